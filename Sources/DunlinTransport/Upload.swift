internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// The sending half of an exchange whose body goes out while the response is awaited.
///
/// It says how it went in `outcome`, before anything it does can end the reader's wait: whoever reads may then tell a
/// peer's silence from a producer's failure.
final class Upload: Sendable {
    enum Outcome: Sendable {
        case underway
        case complete
        /// The peer answered or went away before it had everything.
        case cut
        case failed(any Error)
    }

    private struct State {
        var outcome = Outcome.underway
        var bytesSent = 0
    }

    private let opening: Bytes
    private let content: RequestBody.Content
    private let writer: RequestWriter
    private let state = Mutex(State())

    init(_ message: borrowing Connection.Message, _ writer: RequestWriter) {
        opening = message.opening
        content = message.rest
        self.writer = writer
    }

    var outcome: Outcome { state.withLock { $0.outcome } }
    var bytesSent: Int { state.withLock { $0.bytesSent } }

    /// Body producers are the user's code and run off the loop.
    var runsForeignCode: Bool {
        if case .stream = content { true } else { false }
    }

    /// The reader's failure in the light of how far the sender got; the sender's own says more than the silence it
    /// caused.
    func explain(_ error: any Error) -> any Error {
        let (outcome, sent) = state.withLock { ($0.outcome, $0.bytesSent > 0) }
        if case .failed(let cause) = outcome { return cause }
        guard var failure = error as? NetworkError else { return error }
        failure.requestMayHaveBeenSent = sent
        failure.isSafeToRetry = !sent || writer.context.method.isIdempotent
        if failure.phase == .send, case .complete = outcome { failure.phase = .firstByte }
        if failure.phase == .firstByte, failure.code == .timedOut {
            failure.limit = writer.context.clock.limit(of: .firstByte)
        }
        return failure
    }

    func run() async {
        var attempt = Attempt()
        do {
            try await send(&attempt)
            state.withLock { $0.outcome = .complete }
            // Only now does the answer become due.
            let clock = writer.context.clock
            writer.channel.limitReading(until: clock.deadline(for: .firstByte, from: clock.now()))
        } catch let error as NetworkError where error.code == .connectionClosed {
            // The peer may have answered before it closed; the reader will see.
            state.withLock { $0.outcome = .cut }
        } catch {
            state.withLock { $0.outcome = .failed(error) }
            writer.channel.close()
        }
    }

    private func send(_ attempt: inout Attempt) async throws {
        try await write(opening, &attempt)
        switch content {
        case .none: break
        case .bytes(let bytes): try await write(bytes, &attempt)
        case .stream(let length?, _, let make): try await send(make(), of: length, &attempt)
        case .stream(nil, _, let make): try await sendChunked(make(), &attempt)
        }
    }

    private func write(_ bytes: Bytes, _ attempt: inout Attempt) async throws {
        defer { state.withLock { [attempt] in $0.bytesSent = attempt.bytesSent } }
        try await writer.write(bytes, &attempt)
    }

    private func send(_ chunks: any RequestBody.Chunks, of length: Int, _ attempt: inout Attempt) async throws {
        var left = length
        for try await chunk in chunks {
            guard chunk.count <= left else { throw mismatch("more than the \(length) bytes announced", attempt) }
            left -= chunk.count
            try await write(chunk, &attempt)
        }
        try Task.checkCancellation()
        guard left == 0 else { throw mismatch("\(left) of the \(length) bytes announced are missing", attempt) }
    }

    private func sendChunked(_ chunks: any RequestBody.Chunks, _ attempt: inout Attempt) async throws {
        for try await chunk in chunks where !chunk.isEmpty {
            var framed: [UInt8] = []
            ChunkEncoder.append(chunk, into: &framed)
            try await write(Bytes(framed), &attempt)
        }
        try Task.checkCancellation()
        var end: [UInt8] = []
        try ChunkEncoder.appendEnd(into: &end)
        try await write(Bytes(end), &attempt)
    }

    private func mismatch(_ reason: String, _ attempt: Attempt) -> NetworkError {
        writer.context.error(.bodyLengthMismatch, "the request body has \(reason)", .send, attempt)
    }
}
