internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// Writes to a leased connection: it tries at once, and waits only if the kernel takes no more.
struct RequestWriter: Sendable {
    let context: ExchangeContext
    let stream: ByteStream
    /// Whether nothing is written to a peer that has ended its side. The kernel would take it, and report later, or
    /// never, that nobody will read it.
    var checksEnd = false

    /// Writes what the kernel takes at once, and leaves the rest in `bytes`. Returns whether that was all.
    func writeNow(_ bytes: inout Bytes, _ hop: inout HTTP.Hop) throws -> Bool {
        let taken = try tryWrite(bytes, from: 0, more: false, hop) ?? 0
        hop.bytesSent += taken
        bytes = bytes[taken...]
        return try bytes.isEmpty && flush(hop)
    }

    /// Writes all bytes. If `more` follows at once, they share its segments. `counted` bytes are reported to the
    /// control as the body's. An `upload` is told before the first byte is tried.
    func write(
        _ bytes: Bytes, more: Bool = false, counted: Bool = false, _ hop: inout HTTP.Hop, of upload: Upload? = nil
    ) async throws {
        var offset = 0
        while offset < bytes.count {
            if context.control != nil { try await pass(hop) }
            if hop.bytesSent == 0 { upload?.beginWriting() }
            let taken = try tryWrite(bytes, from: offset, more: more, hop)
            if let taken {
                offset += taken
                hop.bytesSent += taken
                if counted {
                    hop.requestBodyBytes += taken
                    context.control?.sent(taken)
                }
            } else {
                try await waitWritable(hop)
            }
        }
        while try !flush(hop) {
            try await waitWritable(hop)
            // The reader also writes what is left, when TLS has something to answer. A peer that has everything may
            // leave.
            if !stream.isFlushed { try checkPeer(hop) }
        }
    }

    private func flush(_ hop: HTTP.Hop) throws -> Bool {
        do throws(StreamError) {
            return try stream.flush()
        } catch {
            throw context.broken(error, .send, hop)
        }
    }

    /// Sends what the kernel takes of the file's bytes from `offset` on, at least one.
    func send(_ file: OpenFile, from offset: Int, upTo end: Int, _ hop: inout HTTP.Hop) async throws -> Int {
        while true {
            if context.control != nil { try await pass(hop) }
            switch try trySend(file, from: offset, count: min(end - offset, Self.fileRun), hop) {
            case .taken(let count):
                guard count > 0 else { throw shortened(hop) }
                hop.bytesSent += count
                hop.requestBodyBytes += count
                context.control?.sent(count)
                return count
            case .full:
                try await waitWritable(hop)
            case .refused:
                return try await copy(file, from: offset, upTo: end, &hop)
            }
        }
    }

    /// Sends a part of the file through memory, if the kernel cannot send it directly.
    private func copy(_ file: OpenFile, from offset: Int, upTo end: Int, _ hop: inout HTTP.Hop) async throws -> Int {
        let piece: [UInt8]
        do throws(Errno) {
            piece = try file.read(at: offset, upTo: min(end - offset, Self.copyRun))
        } catch {
            throw unreadable(error, hop)
        }
        guard !piece.isEmpty else { throw shortened(hop) }
        try await write(Bytes(piece), counted: true, &hop)
        return piece.count
    }

    /// The file as the subject of an error.
    private var file: String {
        guard case .file(let file) = context.request.body.content else { return "the file of the request's body" }
        return "the file of the request's body, \(file.path),"
    }

    private func shortened(_ hop: HTTP.Hop) -> NetworkError {
        let reason = "\(file) became shorter while it was sent"
        return context.error(.bodyLengthMismatch, reason, in: .send, hop)
    }

    private func unreadable(_ error: Errno, _ hop: HTTP.Hop) -> NetworkError {
        let reason = "\(file) cannot be read"
        var failure = context.error(.fileUnreadable, reason, in: .send, hop, cause: error)
        // The failure has nothing to do with the network.
        failure.phase = nil
        return failure
    }

    /// How many bytes the kernel may send from a file to a fast peer before limits are checked again.
    private static let fileRun = 4 << 20
    private static let copyRun = 256 << 10

    private func waitWritable(_ hop: HTTP.Hop) async throws {
        let start = context.clock.now()
        let wake =
            if let control = context.control {
                await waitWritable(since: start, control)
            } else {
                await stream.channel.waitWritable(until: context.clock.deadline(for: .send, from: start))
            }
        guard wake == .ready else { throw context.failure(wake, in: .send, since: start, hop) }
    }

    /// Waits until the kernel takes more. While the transfer is suspended, nothing is written and only the total limit
    /// applies.
    private func waitWritable(since start: HTTP.Instant, _ control: TransferControl) async -> Wake {
        while true {
            let held = control.suspendedTime(since: start)
            let deadline = context.clock.deadline(for: .send, from: start.advanced(by: held))
            let wake = await stream.channel.waitWritable(until: deadline)
            guard wake == .timedOut, control.suspendedTime(since: start) > held else { return wake }
            switch await control.pass(until: context.clock.whole) {
            case .open: continue
            case .timedOut: return .timedOut
            case .cancelled: return .cancelled
            }
        }
    }

    /// Waits while the transfer is suspended. Throws if it was cancelled, which also ends the suspension: nothing is
    /// sent then.
    func pass(_ hop: HTTP.Hop) async throws {
        guard let control = context.control else { return }
        if control.isSuspended {
            let start = context.clock.now()
            switch await control.pass(until: context.clock.whole) {
            case .open: break
            case .timedOut: throw context.timedOut(.send, exceeding: .total, since: start, hop)
            case .cancelled: throw context.cancelled(.send, hop)
            }
            // What has come meanwhile would be taken for the answer.
            if hop.bytesSent == 0, context.cancellation.cause == nil, !stream.isUntouched() {
                throw context.saidTooEarly(hop)
            }
        }
        if context.cancellation.cause != nil { throw context.cancelled(.send, hop) }
    }

    private func checkPeer(_ hop: HTTP.Hop) throws {
        guard checksEnd, stream.channel.inputHasEnded() else { return }
        throw context.closed("the server closed the connection", .send, hop)
    }

    private enum Sent {
        case taken(Int)
        case full
        /// The kernel cannot send this kind of file to this kind of socket, or the stream uses TLS.
        case refused
    }

    private func trySend(_ file: OpenFile, from offset: Int, count: Int, _ hop: HTTP.Hop) throws -> Sent {
        guard case .plain(let channel) = stream else { return .refused }
        try checkPeer(hop)
        do throws(Errno) {
            return try channel.sendFile(file, from: offset, count: count).map(Sent.taken) ?? .full
        } catch {
            if error.meansUnsupported { return .refused }
            if error.isFileFault { throw unreadable(error, hop) }
            throw context.closed("the connection failed", .send, hop, error)
        }
    }

    private func tryWrite(_ bytes: Bytes, from offset: Int, more: Bool, _ hop: HTTP.Hop) throws -> Int? {
        try checkPeer(hop)
        do throws(StreamError) {
            return try stream.write(bytes, from: offset, more: more)
        } catch {
            throw context.broken(error, .send, hop)
        }
    }
}
