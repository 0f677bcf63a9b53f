internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// Reads from a leased connection: decides when to try, when to wait, and what an end of stream means.
///
/// An edge is reported once. After a read that filled its buffer there may be more, so the next read tries first; after
/// a shorter one the kernel had no more, so waiting first saves a system call.
struct ResponseReader: ~Copyable {
    let context: ExchangeContext
    let stream: ByteStream
    /// Whether the last read filled its buffer, so that there may be more.
    private(set) var mayHaveMore = false

    init(_ stream: ByteStream, _ context: ExchangeContext, mayHaveMore: Bool = false) {
        self.stream = stream
        self.context = context
        self.mayHaveMore = mayHaveMore
    }

    /// The bytes that are there; nil if there are none.
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

    /// The next bytes; empty at the end of the stream.
    ///
    /// In `.send`, while the request is under way, only the total limit applies: the sender checks its own waits.
    @inline(__always)
    mutating func next(
        upTo capacity: Int, in phase: HTTP.Phase, since start: HTTP.Instant, _ hop: inout HTTP.Hop
    ) async throws -> [UInt8] {
        while true {
            if !mayHaveMore {
                let wake = await waitReadable(in: phase, since: start)
                // What it was woken for may be known already.
                let mayRead = wake == .ready || wake == .woken
                guard mayRead else { throw context.failure(wake, in: phase, since: start, hop) }
            } else if let control = context.control {
                try await pass(control, in: phase, hop)
            }
            if let bytes = try nextNow(upTo: capacity, in: phase, &hop) { return bytes }
        }
    }

    /// The next bytes; nil if none have come by `limit`, which is the caller's and not an error, or when the reader is
    /// woken. Bytes that the kernel has by then count, whether or not the loop has seen them.
    mutating func next(
        upTo capacity: Int, in phase: HTTP.Phase, since start: HTTP.Instant, before limit: HTTP.Instant,
        _ hop: inout HTTP.Hop
    ) async throws -> [UInt8]? {
        while true {
            var isLast = false
            if !mayHaveMore {
                let wake = await waitReadable(in: phase, since: start, before: limit)
                isLast = wake == .woken || (wake == .timedOut && limit <= context.clock.now())
                guard isLast || wake == .ready else { throw context.failure(wake, in: phase, since: start, hop) }
            } else if let control = context.control {
                try await pass(control, in: phase, hop)
            }
            if let bytes = try nextNow(upTo: capacity, in: phase, &hop) { return bytes }
            if isLast { return nil }
        }
    }

    enum Look {
        case nothing
        case bytes
        /// The end of the stream, announced or not.
        case end
    }

    /// Checks what has come when nothing more is expected.
    mutating func look() -> Look {
        var bytes: [UInt8] = []
        do throws(StreamError) {
            guard note(try stream.read(into: &bytes, upTo: Connection.smallestRead)) else { return .nothing }
        } catch {
            return .end
        }
        return bytes.isEmpty ? .end : .bytes
    }

    /// Waits for input, or for the nearest limit.
    @inline(__always)
    private func waitReadable(
        in phase: HTTP.Phase, since start: HTTP.Instant, before limit: HTTP.Instant = .never
    ) async -> Wake {
        if let control = context.control { return await waitReadable(in: phase, since: start, before: limit, control) }
        return await stream.channel.waitReadable(until: min(deadline(in: phase, from: start), limit))
    }

    /// While the request is still under way, the peer owes nothing yet, and only the total limit applies.
    @inline(__always)
    private func deadline(in phase: HTTP.Phase, from start: HTTP.Instant) -> HTTP.Instant {
        phase == .send ? context.clock.whole : context.clock.deadline(for: phase, from: start)
    }

    /// Waits for input. While the transfer is suspended, nothing is read and only the total limit applies.
    private func waitReadable(
        in phase: HTTP.Phase, since start: HTTP.Instant, before limit: HTTP.Instant, _ control: TransferControl
    ) async -> Wake {
        let whole = context.clock.whole
        while true {
            if let refused = await Self.pass(control, until: whole) { return refused }
            let held = control.suspendedTime(since: start)
            let deadline = deadline(in: phase, from: start.advanced(by: held))
            let wake = await stream.channel.waitReadable(until: min(deadline, limit.advanced(by: held)))
            switch wake {
            case .ready, .woken:
                if let refused = await Self.pass(control, until: whole) { return refused }
                // A cancel ends a suspension; nothing is read then.
                return context.cancellation.cause == nil ? wake : .cancelled
            case .timedOut where control.suspendedTime(since: start) > held: continue
            default: return wake
            }
        }
    }

    /// Waits while the transfer is suspended. Returns nil if it may continue.
    private static func pass(_ control: TransferControl, until deadline: HTTP.Instant) async -> Wake? {
        switch await control.pass(until: deadline) {
        case .open: nil
        case .timedOut: .timedOut
        case .cancelled: .cancelled
        }
    }

    /// Waits while the transfer is suspended.
    private func pass(_ control: TransferControl, in phase: HTTP.Phase, _ hop: HTTP.Hop) async throws {
        guard control.isSuspended else { return }
        let start = context.clock.now()
        switch await control.pass(until: context.clock.whole) {
        case .open: break
        case .timedOut: throw context.timedOut(phase, exceeding: .total, since: start, hop)
        case .cancelled: throw context.cancelled(phase, hop)
        }
        if context.cancellation.cause != nil { throw context.cancelled(phase, hop) }
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
    /// Reads the next bytes after those in `bytes`, or replacing them; none at the end of the stream. `pace` decides
    /// how many to read and when, up to `capacity`. Returns false if the reader was woken before there were any.
    mutating func next(
        into bytes: inout [UInt8], replacing: Bool, upTo capacity: Int, at pace: inout ReadingPace, certain: Int,
        in phase: HTTP.Phase, since start: HTTP.Instant, before limit: HTTP.Instant, _ hop: inout HTTP.Hop
    ) async throws -> Bool {
        while true {
            if !mayHaveMore {
                let mayRead = try await wait(&pace, certain: certain, in: phase, since: start, before: limit, hop)
                if !mayRead { return false }
            } else if let control = context.control {
                try await pass(control, in: phase, hop)
            }
            // Only now: if somebody else uses the memory, other memory is taken, which is not needed while waiting.
            if replacing { bytes.removeAll(keepingCapacity: true) }
            let (before, room) = (bytes.count, min(capacity, pace.readSize))
            if try read(appendingTo: &bytes, upTo: room, phase, hop) {
                let count = bytes.count - before
                pace.took(count)
                hop.bytesReceived += count
                return true
            }
        }
    }

    /// Waits until there is as much as `pace` wants, or its time is over and there may be less. Returns false if the
    /// reader was woken.
    private func wait(
        _ pace: inout ReadingPace, certain: Int, in phase: HTTP.Phase, since start: HTTP.Instant,
        before limit: HTTP.Instant, _ hop: HTTP.Hop
    ) async throws -> Bool {
        // Part of what is certain to come may have come already, as the beginning of a record.
        let certain = certain - stream.depth * Self.largestRecord
        if let mark = pace.beforeWait(certain: certain) { try setLowWater(mark, phase, hop) }
        let longestWait = pace.isMarked ? start.advanced(by: ReadingPace.longestWait) : .never
        let wake = await waitReadable(in: phase, since: start, before: min(limit, longestWait))
        if wake == .ready { return true }
        if wake == .woken { return false }
        // Bytes below the mark count as having come, whatever the limit.
        guard wake == .timedOut, pace.isMarked else { throw context.failure(wake, in: phase, since: start, hop) }
        if let mark = pace.fellBehind() { try setLowWater(mark, phase, hop) }
        return true
    }

    /// The plaintext of a record, with more than the overhead of its ciphertext, in bytes.
    private static var largestRecord: Int { 17 * 1024 }

    /// Makes the channel report every byte again. Returns false if it cannot; then it must not serve another request.
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
