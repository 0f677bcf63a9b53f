internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// Reads from a leased connection: when to try, when to wait, and what an end of stream means.
///
/// An edge is told once. After a read that filled its buffer more may be there, so the next read tries first; after a
/// shorter one the kernel had no more, and waiting first saves a system call that would only say so.
struct ResponseReader: ~Copyable {
    let context: ExchangeContext
    let stream: ByteStream
    /// The last read filled its buffer: there may be more.
    private(set) var mayHaveMore = false

    init(_ stream: ByteStream, _ context: ExchangeContext) {
        self.stream = stream
        self.context = context
    }

    /// What is there; nil if nothing is.
    mutating func nextNow(upTo capacity: Int, in phase: HTTP.Phase, _ hop: inout HTTP.Hop) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        do throws(StreamError) {
            guard note(try stream.read(into: &bytes, upTo: capacity)) else { return nil }
        } catch {
            throw context.broken(error, phase, hop)
        }
        hop.bytesReceived += bytes.count
        return bytes
    }

    /// The next bytes; none at the end of the stream.
    ///
    /// While the request is still being `sent`, only the total limit counts here: the sender minds its own stalls, and
    /// says when the answer is due.
    @inline(__always)
    mutating func next(
        upTo capacity: Int, in phase: HTTP.Phase, since start: MonotonicTime, _ hop: inout HTTP.Hop
    ) async throws -> [UInt8] {
        while true {
            if !mayHaveMore {
                let wake = await waitReadable(in: phase, since: start)
                guard wake == .ready else { throw context.failure(wake, in: phase, since: start, hop) }
            } else if let control = context.control {
                try await pass(control, hop)
            }
            if let bytes = try nextNow(upTo: capacity, in: phase, &hop) { return bytes }
        }
    }

    /// The next bytes, or nil if none have come by `limit`, which is the caller's patience and no failure. What the
    /// kernel has by then has come, whether or not the loop has seen it.
    mutating func next(
        upTo capacity: Int, in phase: HTTP.Phase, since start: MonotonicTime, before limit: MonotonicTime,
        _ hop: inout HTTP.Hop
    ) async throws -> [UInt8]? {
        while true {
            var isLast = false
            if !mayHaveMore {
                let wake = await waitReadable(in: phase, since: start, before: limit)
                isLast = wake == .timedOut && limit <= context.clock.now()
                guard isLast || wake == .ready else { throw context.failure(wake, in: phase, since: start, hop) }
            } else if let control = context.control {
                try await pass(control, hop)
            }
            if let bytes = try nextNow(upTo: capacity, in: phase, &hop) { return bytes }
            if isLast { return nil }
        }
    }

    enum Look {
        case nothing
        case bytes
        /// Announced or not.
        case end
    }

    /// Sees what there is when nothing more is wanted of it.
    mutating func look() -> Look {
        var bytes: [UInt8] = []
        do throws(StreamError) {
            guard note(try stream.read(into: &bytes, upTo: Connection.smallestRead)) else { return .nothing }
        } catch {
            return .end
        }
        return bytes.isEmpty ? .end : .bytes
    }

    /// Waits for input, or for whichever limit is the nearest.
    @inline(__always)
    private func waitReadable(
        in phase: HTTP.Phase, since start: MonotonicTime, before limit: MonotonicTime = .never
    ) async -> Wake {
        let phase = phase == .send ? .total : phase
        if let control = context.control { return await waitReadable(in: phase, since: start, before: limit, control) }
        return await stream.channel.waitReadable(until: min(context.clock.deadline(for: phase, from: start), limit))
    }

    /// Nothing is read while the transfer is held, and only the total limit goes on meanwhile.
    private func waitReadable(
        in phase: HTTP.Phase, since start: MonotonicTime, before limit: MonotonicTime, _ control: TransferControl
    ) async -> Wake {
        let total = context.clock.deadline(for: .total, from: start)
        while true {
            guard await control.pass(until: total) else { return .timedOut }
            let held = control.suspendedTime(since: start)
            let deadline = context.clock.deadline(for: phase, from: start.advanced(by: held))
            let wake = await stream.channel.waitReadable(until: min(deadline, limit.advanced(by: held)))
            switch wake {
            case .ready: return await control.pass(until: total) ? .ready : .timedOut
            case .timedOut where control.suspendedTime(since: start) > held: continue
            default: return wake
            }
        }
    }

    /// Waits while the transfer is held.
    private func pass(_ control: TransferControl, _ hop: HTTP.Hop) async throws {
        guard control.isSuspended else { return }
        let start = context.clock.now()
        guard await control.pass(until: context.clock.deadline(for: .total, from: start)) else {
            throw context.timedOut(.total, since: start, hop)
        }
    }

    private mutating func note(_ input: StreamInput) -> Bool {
        switch input {
        case .none:
            mayHaveMore = false
            return false
        case .some(let more):
            mayHaveMore = more
            return true
        }
    }
}

// MARK: - Long bodies

extension ResponseReader {
    /// The next bytes behind those in `bytes`, or in their place; none at the end of the stream. How many and how soon
    /// is for `pace` to say, but at most `capacity`.
    mutating func next(
        into bytes: inout [UInt8], replacing: Bool, upTo capacity: Int, at pace: inout ReadingPace, certain: Int,
        in phase: HTTP.Phase, since start: MonotonicTime, before limit: MonotonicTime, _ hop: inout HTTP.Hop
    ) async throws {
        while true {
            if !mayHaveMore {
                try await wait(&pace, certain: certain, in: phase, since: start, before: limit, hop)
            } else if let control = context.control {
                try await pass(control, hop)
            }
            // Only now: if somebody else has the memory, other is taken, which is not needed for as long as we wait.
            if replacing { bytes.removeAll(keepingCapacity: true) }
            let (before, room) = (bytes.count, min(capacity, pace.readSize))
            if try read(appendingTo: &bytes, upTo: room, phase, hop) {
                let count = bytes.count - before
                pace.took(count)
                hop.bytesReceived += count
                return
            }
        }
    }

    /// Waits until there is as much as `pace` wants, or its patience is over and there may be something.
    private func wait(
        _ pace: inout ReadingPace, certain: Int, in phase: HTTP.Phase, since start: MonotonicTime,
        before limit: MonotonicTime, _ hop: HTTP.Hop
    ) async throws {
        // Part of what is certain to come may be here already, as the beginning of a record.
        let certain = stream.isSecure ? certain - Self.largestRecord : certain
        if let mark = pace.beforeWait(certain: certain) { try setLowWater(mark, phase, hop) }
        let patience = pace.isMarked ? start.advanced(by: ReadingPace.patience) : .never
        let wake = await waitReadable(in: phase, since: start, before: min(limit, patience))
        if wake == .ready { return }
        // What came below the mark counts as having come, whatever the limit.
        guard wake == .timedOut, pace.isMarked else { throw context.failure(wake, in: phase, since: start, hop) }
        if let mark = pace.fellBehind() { try setLowWater(mark, phase, hop) }
    }

    /// Of plaintext, and more than its ciphertext has around it.
    private static var largestRecord: Int { 17 * 1024 }

    /// Makes the channel tell of every byte again; false if it can't, and must serve no other request.
    func resetLowWater(of pace: inout ReadingPace) -> Bool {
        guard let mark = pace.end() else { return true }
        do throws(Errno) {
            try stream.channel.setLowWater(mark)
            return true
        } catch {
            return false
        }
    }

    private func setLowWater(_ mark: Int, _ phase: HTTP.Phase, _ hop: HTTP.Hop) throws {
        do throws(Errno) {
            try stream.channel.setLowWater(mark)
        } catch {
            throw context.closed("the connection failed", phase, hop, error)
        }
    }

    private mutating func read(
        appendingTo bytes: inout [UInt8], upTo capacity: Int, _ phase: HTTP.Phase, _ hop: HTTP.Hop
    ) throws -> Bool {
        do throws(StreamError) {
            return note(try stream.read(appendingTo: &bytes, upTo: capacity))
        } catch {
            throw context.broken(error, phase, hop)
        }
    }
}
