internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// The sending half of an exchange whose body goes out while the response is awaited and read.
///
/// Rules:
/// 1. It says how it went in `outcome`, before anything it does can end the reader's wait: whoever reads may then tell
///    a peer's silence from a producer's failure.
/// 2. `isOver` comes after all it does to the channel. Until then the connection may not serve another request.
/// 3. The reader alone ends it early. A child task of an `UploadScope` runs it, and nothing outlives that.
/// 4. If it is stopped before it has begun it sends nothing and takes no body. So whoever hears that nothing was sent
///    may send the request elsewhere, even with a body that can be sent once only.
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
        /// When the outcome was clear.
        var ended: MonotonicTime?
        var isOver = false
        /// The response's head has come: what is due next is more of its body.
        var isAnswered = false
        var hasBegun = false
        var isStopped = false

        /// Whether the peer may have something of the request.
        var mayHaveSent: Bool {
            if bytesSent > 0 { return true }
            if case .underway = outcome { return hasBegun }
            return false
        }

        mutating func begin() -> Bool {
            hasBegun = !isStopped
            if isStopped { outcome = .cut }
            return hasBegun
        }
    }

    let writer: RequestWriter
    /// What of the head is still to be sent.
    private let opening: Bytes
    private let file: FileSource?
    private let state: Mutex<State>
    /// Told when it is over.
    private let end: Parking<Void>
    /// Told when the scope need no longer look after it, or is to cancel it.
    private let leash: Parking<Void>

    /// `sent`: bytes of the head that went ahead.
    init(_ opening: Bytes, _ file: FileSource?, _ writer: RequestWriter, after sent: Int) {
        state = Mutex(State(bytesSent: sent))
        self.opening = opening
        self.file = file
        self.writer = writer
        end = Parking(on: writer.context.clock.reactor)
        leash = Parking(on: writer.context.clock.reactor)
    }

    var outcome: Outcome { state.withLock { $0.outcome } }
    var bytesSent: Int { state.withLock { $0.bytesSent } }
    var ended: MonotonicTime? { state.withLock { $0.ended } }
    var isOver: Bool { state.withLock { $0.isOver } }

    var isComplete: Bool {
        if case .complete = outcome { true } else { false }
    }

    var isUnderway: Bool {
        if case .underway = outcome { true } else { false }
    }

    /// Body producers are the user's code, and files may wait for a disk: both run off the loop.
    var runsOffLoop: Bool {
        switch body.content {
        case .none, .bytes: body.trailers != nil
        case .stream, .file: true
        }
    }

    private var body: RequestBody { writer.context.request.body }

    /// The reader's failure in the light of how far the sender got; the sender's own says more than the silence it
    /// caused.
    func explain(_ error: any Error) -> any Error {
        let (outcome, sent) = state.withLock { ($0.outcome, $0.mayHaveSent) }
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
}

// MARK: - The reader's side

extension Upload {
    /// The response's head has come, and its body may take its time while there is more to send.
    func noteAnswer() {
        state.withLock { $0.isAnswered = true }
        writer.stream.channel.limitReading(until: .never)
    }

    /// What a wait for more of the response's body that begins now is part of: while there is more to send, only the
    /// total limit counts, and `run` says when that changes.
    var phaseOfReader: Phase {
        if isUnderway { return .send }
        writer.stream.channel.limitReading(until: .never)
        return .idle
    }

    /// Ends the sending: what is left would only be thrown away.
    func stop() {
        let isOver = state.withLock { state in
            state.isStopped = true
            return state.isOver
        }
        if isOver { return }
        writer.stream.channel.stopWriting()
        _ = leash.deliver(())
    }

    /// Waits until it is over. To be called once.
    func waitForEnd(_ attempt: Attempt) async throws {
        let context = writer.context
        let start = context.clock.now()
        switch await end.wait(until: context.clock.deadline(for: .total, from: start), interrupt: context.interrupt) {
        case .value: break
        case .timedOut: throw context.timedOut(.total, since: start, attempt)
        case .interrupted: throw context.interrupted(.send, attempt)
        }
    }
}

// MARK: - The scope's side

extension Upload {
    /// Waits until it need not be looked after any more.
    func waitForRelease() async {
        _ = await leash.wait(until: .never, interrupt: nil)
    }

    func run() async {
        if state.withLock({ $0.begin() }) { await sendAll() }
        state.withLock { $0.isOver = true }
        _ = end.deliver(())
        _ = leash.deliver(())
    }

    private func sendAll() async {
        var attempt = Attempt()
        attempt.bytesSent = bytesSent
        do {
            try await send(&attempt)
            let phase = finish(.complete)
            // Only now does the peer owe us something.
            let clock = writer.context.clock
            writer.stream.channel.limitReading(until: clock.deadline(for: phase, from: clock.now()))
        } catch let error as NetworkError where error.code == .connectionClosed {
            // The peer may have answered before it closed; the reader will see.
            _ = finish(.cut)
        } catch {
            _ = finish(.failed(error))
            writer.stream.close()
        }
    }

    /// Returns what the reader waits for.
    private func finish(_ outcome: Outcome) -> Phase {
        let now = writer.context.clock.now()
        let phase = state.withLock {
            $0.outcome = outcome
            $0.ended = now
            return $0.isAnswered ? Phase.idle : .firstByte
        }
        writer.context.interrupt.phase = phase
        return phase
    }

    private func write(
        _ bytes: Bytes, more: Bool = false, counted: Bool = false, _ attempt: inout Attempt
    ) async throws {
        defer { state.withLock { [attempt] in $0.bytesSent = attempt.bytesSent } }
        try await writer.write(bytes, more: more, counted: counted, &attempt)
    }
}

// MARK: - The body

extension Upload {
    private func send(_ attempt: inout Attempt) async throws {
        if !opening.isEmpty { try await write(opening, more: bodyIsAtHand, &attempt) }
        let isChunked = body.isChunked
        writer.context.watch?.beginSending(file?.range.count ?? body.length)
        switch body.content {
        case .none: break
        case .bytes(let bytes):
            try await frame(bytes.count, isChunked, &attempt) { attempt in
                try await write(bytes, counted: true, &attempt)
            }
        case .file:
            guard let file else { break }
            try await frame(file.range.count, isChunked, &attempt) { attempt in try await send(file, &attempt) }
        case .stream(let length, _, let make):
            try await send(make(), of: length, isChunked, &attempt)
        }
        if isChunked { try await sendEnd(&attempt) }
    }

    /// The body's first byte follows the head at once, and may share its segment.
    private var bodyIsAtHand: Bool {
        switch body.content {
        case .bytes(let bytes): !bytes.isEmpty
        case .file: file?.range.isEmpty == false
        case .none, .stream: false
        }
    }

    /// All of a body as one chunk, or as it is.
    private func frame(
        _ count: Int, _ isChunked: Bool, _ attempt: inout Attempt,
        _ send: (inout Attempt) async throws -> Void
    ) async throws {
        guard isChunked, count > 0 else { return try await send(&attempt) }
        var line: [UInt8] = []
        ChunkEncoder.appendHeader(ofSize: count, into: &line)
        try await write(Bytes(line), more: true, &attempt)
        try await send(&attempt)
        line.removeAll(keepingCapacity: true)
        ChunkEncoder.appendSuffix(into: &line)
        try await write(Bytes(line), &attempt)
    }

    private func send(_ source: FileSource, _ attempt: inout Attempt) async throws {
        var offset = source.range.lowerBound
        while offset < source.range.upperBound {
            offset += try await writer.send(source.file, from: offset, upTo: source.range.upperBound, &attempt)
            state.withLock { [attempt] in $0.bytesSent = attempt.bytesSent }
        }
    }

    private func send(
        _ chunks: any RequestBody.Chunks, of length: Int?, _ isChunked: Bool, _ attempt: inout Attempt
    ) async throws {
        var sent = 0
        if let filed = chunks as? any FiledChunks {
            try await send(filed.makePieces(), of: length, isChunked, &sent, &attempt)
        } else {
            for try await chunk in chunks where !chunk.isEmpty {
                try await send(chunk, of: length, isChunked, &sent, &attempt)
            }
        }
        try Task.checkCancellation()
        guard let length, sent < length else { return }
        throw mismatch("\(length - sent) of the \(length) bytes announced are missing", attempt)
    }

    private func send(
        _ chunk: Bytes, of length: Int?, _ isChunked: Bool, _ sent: inout Int, _ attempt: inout Attempt
    ) async throws {
        try count(chunk.count, of: length, &sent, attempt)
        try await writer.pass(attempt)
        try await write(isChunked ? Self.framed(chunk) : chunk, &attempt)
        writer.context.watch?.sent(chunk.count)
    }

    /// Files are sent as bodies are that are one.
    private func send(
        _ pieces: consuming some BodyPieces, of length: Int?, _ isChunked: Bool, _ sent: inout Int,
        _ attempt: inout Attempt
    ) async throws {
        while let piece = try await pieces.next() {
            switch piece {
            case .bytes(let chunk):
                if chunk.isEmpty { continue }
                try await send(chunk, of: length, isChunked, &sent, &attempt)
            case .file(let file):
                try Task.checkCancellation()
                try count(file.length, of: length, &sent, attempt)
                do {
                    try await frame(file.length, isChunked, &attempt) { attempt in try await send(file, &attempt) }
                } catch let error as NetworkError where error.code.blamesTheBody {
                    throw pieces.explained(error)
                }
            }
        }
    }

    private func count(_ more: Int, of length: Int?, _ sent: inout Int, _ attempt: Attempt) throws {
        if let length, more > length - sent {
            throw mismatch("more than the \(length) bytes announced", attempt)
        }
        sent += more
    }

    private static func framed(_ chunk: Bytes) -> Bytes {
        var framed: [UInt8] = []
        framed.reserveCapacity(chunk.count + 20)
        ChunkEncoder.append(chunk, into: &framed)
        return Bytes(framed)
    }

    private func sendEnd(_ attempt: inout Attempt) async throws {
        let trailers = try await body.trailers?.make() ?? Fields()
        var end: [UInt8] = []
        do throws(WireError) {
            try ChunkEncoder.appendEnd(trailers: trailers, into: &end)
        } catch {
            throw writer.context.error(.invalidRequest, "the trailers cannot be sent", .send, attempt, error)
        }
        try await write(Bytes(end), &attempt)
    }

    private func mismatch(_ reason: String, _ attempt: Attempt) -> NetworkError {
        writer.context.error(.bodyLengthMismatch, "the request body has \(reason)", .send, attempt)
    }
}

extension NetworkError.Code {
    fileprivate var blamesTheBody: Bool { self == .bodyLengthMismatch || self == .fileUnreadable }
}
