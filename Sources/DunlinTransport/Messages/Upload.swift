internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// The sending half of an exchange whose body is sent while the response is awaited and read.
///
/// Rules:
/// 1. It sets `outcome` before anything it does can end the reader's wait, so that the reader can tell a peer's silence
///    from a producer's failure.
/// 2. `isOver` comes after all it does to the channel. Until then the connection may not serve another request.
/// 3. Only the reader ends it early. A child task of an `UploadScope` runs it, and nothing outlives that. Errors of the
///    upload or the body's producer after it was stopped are no failure, and leave the channel to the reader: the
///    server's answer may be on its way there.
/// 4. If it is stopped before it has begun, it sends nothing and takes no body. So if nothing was sent, the request may
///    be sent elsewhere, even with a body that can be sent once only.
/// 5. It writes nothing to a peer that has ended its side, though the kernel would take it: a request that is complete
///    was written to its end while the connection was whole.
final class Upload: Sendable {
    enum Outcome: Sendable {
        case underway
        case complete
        /// The peer answered or was gone before it had everything.
        case cut
        case failed(any Error)
    }

    private struct State {
        var outcome = Outcome.underway
        var bytesSent = 0
        /// When the outcome was set.
        var ended: MonotonicTime?
        var isOver = false
        /// The head of the response, once it has come: then more of its body is due next.
        var answer: ResponseHead?
        /// Whether it came before the request had been sent to its end.
        var isAnsweredEarly = false
        /// Whether all of the response has come, and its reader waits only for the end of the request.
        var isAwaited = false
        var hasBegun = false
        /// Whether every byte that was announced is written, and only its producer has not said yet that it is done.
        var hasAllWritten = false
        var isStopped = false
        /// Whether the peer reset the connection, and the kernel told the writer instead of the reader.
        var wasReset = false

        var isUnderway: Bool {
            if case .underway = outcome { true } else { false }
        }

        var isComplete: Bool {
            if case .complete = outcome { true } else { false }
        }

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

        /// Sets the outcome; false if it was stopped, which is no outcome of its own.
        mutating func end(_ outcome: Outcome) -> Bool {
            if isStopped, case .failed = outcome {
                self.outcome = hasAllWritten ? .complete : .cut
                return false
            }
            self.outcome = outcome
            return true
        }
    }

    let writer: RequestWriter
    /// The part of the head that is still to be sent.
    private let opening: Bytes
    private let file: FileSource?
    private let state: Mutex<State>
    /// Delivered when it is over.
    private let end: ValueWaiter<Void>
    /// Delivered when the scope need no longer run it, or is to cancel it.
    private let leash: ValueWaiter<Void>

    /// `sent`: bytes of the head that went ahead.
    init(_ opening: Bytes, _ file: FileSource?, _ writer: RequestWriter, after sent: Int) {
        state = Mutex(State(bytesSent: sent))
        self.opening = opening
        self.file = file
        var writer = writer
        writer.heedsEnd = true
        self.writer = writer
        end = ValueWaiter(on: writer.context.clock.reactor)
        leash = ValueWaiter(on: writer.context.clock.reactor)
    }

    var outcome: Outcome { state.withLock { $0.outcome } }
    var bytesSent: Int { state.withLock { $0.bytesSent } }
    var ended: MonotonicTime? { state.withLock { $0.ended } }
    var isOver: Bool { state.withLock { $0.isOver } }

    var isComplete: Bool { state.withLock { $0.isComplete } }
    /// Whether the answer ended the sending.
    var isStopped: Bool { state.withLock { $0.isStopped } }
    var wasRefused: Bool { state.withLock { $0.answer.map { !$0.status.isSuccess } ?? false } }
    var isAnsweredEarly: Bool { state.withLock { $0.isAnsweredEarly } }
    var wasReset: Bool { state.withLock { $0.wasReset } }

    /// Whether it runs off the loop, as body producers (the user's code) and files (which may wait for a disk) do.
    var runsOffLoop: Bool {
        switch body.content {
        case .none, .bytes: body.trailers != nil
        case .stream, .file: true
        }
    }

    private var body: RequestBody { writer.context.request.body }

    /// The error to report for the reader's failure: the sender's own, if there is one, since it explains the silence
    /// it caused.
    func explain(_ error: any Error) -> any Error {
        let (outcome, sent, answer) = state.withLock { ($0.outcome, $0.mayHaveSent, $0.answer) }
        if case .failed(let cause) = outcome { return cause }
        guard var failure = error as? NetworkError else { return error }
        failure.response = failure.response ?? answer
        failure.requestMayHaveBeenSent = sent
        failure.isSafeToRetry = !sent || writer.context.method.isIdempotent
        if failure.phase == .send, case .complete = outcome { failure.phase = .firstByte }
        if failure.phase == .firstByte, failure.code == .timedOut, failure.exceeded != .total {
            (failure.exceeded, failure.limit) = (.firstByte, writer.context.clock.duration(of: .firstByte))
        }
        return failure
    }
}

// MARK: - The reader's side

extension Upload {
    /// Notes that the response's head has come. Its body may take its time while there is more to send.
    func noteAnswer(_ head: ResponseHead) {
        state.withLock { state in
            state.answer = head
            state.isAnsweredEarly = !state.isComplete
        }
        writer.stream.channel.limitReading(until: .never)
    }

    /// The phase of a wait for the response's body that begins now. While there is more to send, only the total limit
    /// counts, and `run` says when that changes.
    var phaseOfReader: HTTP.Phase {
        if state.withLock({ $0.isUnderway && !$0.isStopped }) { return .send }
        writer.stream.channel.limitReading(until: .never)
        return .receive
    }

    /// Ends the sending: the server would only discard the rest.
    func stop() {
        let isOver = state.withLock { state in
            state.isStopped = true
            return state.isOver
        }
        if isOver { return }
        writer.stream.channel.stopWriting()
        _ = leash.deliver(())
    }

    /// Whether nothing has to be awaited before the response's end, which may be the connection's too.
    func isSettled(endingConnection: Bool) -> Bool {
        state.withLock { state in
            if state.isStopped { return true }
            return state.isComplete && state.isOver && !(state.isAnsweredEarly && endingConnection)
        }
    }

    /// Notes that all of the response has come: from now on the reader's wait ends with the sending. False if that has
    /// ended.
    func markAwaited() -> Bool {
        state.withLock { state in
            state.isAwaited = true
            return state.isUnderway
        }
    }

    /// Notes that the bytes the kernel took did not all reach the peer.
    func turnOutCut() {
        state.withLock { $0.outcome = .cut }
    }

    /// The error for a success after which the peer did not stay to read the request.
    func cut(_ hop: HTTP.Hop) -> NetworkError {
        let answer = state.withLock { $0.answer }
        let said = answer.map { "answered \($0.status) and " } ?? ""
        var error = writer.context.closed(
            "the server \(said)ended the connection before it had the whole request", .send, hop)
        error.response = answer
        error.requestMayHaveBeenSent = true
        error.isSafeToRetry = writer.context.method.isIdempotent
        return error
    }

    /// Waits until the upload is over. To be called once.
    func waitForEnd(_ hop: HTTP.Hop) async throws {
        let context = writer.context
        let start = context.clock.now()
        switch await end.wait(until: context.clock.whole, cancellation: context.cancellation) {
        case .value: break
        case .timedOut: throw context.timedOut(.send, exceeding: .total, since: start, hop)
        case .cancelled: throw context.cancelled(.send, hop)
        }
    }
}

// MARK: - The scope's side

extension Upload {
    /// Waits until the scope need not run it any more.
    func waitForRelease() async {
        _ = await leash.wait(until: .never, cancellation: nil)
    }

    func run() async {
        if state.withLock({ $0.begin() }) { await sendAll() }
        state.withLock { $0.isOver = true }
        _ = end.deliver(())
        _ = leash.deliver(())
    }

    private func sendAll() async {
        var hop = HTTP.Hop()
        hop.bytesSent = bytesSent
        defer { writer.context.observer?.saw(.requestSent(bytes: hop.bytesSent)) }
        do {
            try await send(&hop)
            finish(.complete)
        } catch let error as NetworkError where error.code == .connectionClosed {
            // The peer may have answered before it closed; the reader will find out.
            finish(.cut, wasReset: (error.underlying as? Errno).map { !$0.meansEndedBefore } ?? false)
        } catch {
            finish(.failed(error))
        }
    }

    private func finish(_ outcome: Outcome, wasReset: Bool = false) {
        let clock = writer.context.clock
        let now = clock.now()
        let (isOwn, isAwaited, isStopped, phase) = state.withLock { state in
            let isOwn = state.end(outcome)
            state.ended = now
            state.wasReset = wasReset
            return (isOwn, state.isAwaited, state.isStopped, state.answer == nil ? HTTP.Phase.firstByte : .receive)
        }
        writer.context.cancellation.phase = phase
        let channel = writer.stream.channel
        if isAwaited {
            // The reader waits only for this.
            channel.limitReading(until: now)
        } else if case .complete = outcome, !isStopped {
            // Only from now on must the peer answer.
            channel.limitReading(until: clock.deadline(for: phase, from: now))
        }
        if isOwn, case .failed = outcome { writer.stream.close() }
    }

    private func write(
        _ bytes: Bytes, more: Bool = false, counted: Bool = false, _ hop: inout HTTP.Hop
    ) async throws {
        defer { state.withLock { [hop] in $0.bytesSent = hop.bytesSent } }
        try await writer.write(bytes, more: more, counted: counted, &hop)
    }
}

// MARK: - The body

extension Upload {
    private func send(_ hop: inout HTTP.Hop) async throws {
        if !opening.isEmpty { try await write(opening, more: bodyIsAtHand, &hop) }
        let isChunked = body.isChunked
        writer.context.control?.beginSending(file?.range.count ?? body.length)
        switch body.content {
        case .none: break
        case .bytes(let bytes):
            try await frame(bytes.count, isChunked, &hop) { hop in
                try await write(bytes, counted: true, &hop)
            }
        case .file:
            guard let file else { break }
            try await frame(file.range.count, isChunked, &hop) { hop in try await send(file, &hop) }
        case .stream(let length, _, let make):
            try await send(make(), of: length, isChunked, &hop)
        }
        if isChunked { try await sendEnd(&hop) }
    }

    /// Whether the body's first byte follows the head at once, and may share its segment.
    private var bodyIsAtHand: Bool {
        switch body.content {
        case .bytes(let bytes): !bytes.isEmpty
        case .file: file?.range.isEmpty == false
        case .none, .stream: false
        }
    }

    /// All of a body as one chunk, or as it is.
    private func frame(
        _ count: Int, _ isChunked: Bool, _ hop: inout HTTP.Hop,
        _ send: (inout HTTP.Hop) async throws -> Void
    ) async throws {
        guard isChunked, count > 0 else { return try await send(&hop) }
        var line: [UInt8] = []
        ChunkEncoder.appendHeader(ofSize: count, into: &line)
        try await write(Bytes(line), more: true, &hop)
        try await send(&hop)
        line.removeAll(keepingCapacity: true)
        ChunkEncoder.appendSuffix(into: &line)
        try await write(Bytes(line), &hop)
    }

    private func send(_ source: FileSource, _ hop: inout HTTP.Hop) async throws {
        var offset = source.range.lowerBound
        while offset < source.range.upperBound {
            offset += try await writer.send(source.file, from: offset, upTo: source.range.upperBound, &hop)
            state.withLock { [hop] in $0.bytesSent = hop.bytesSent }
        }
    }

    private func send(
        _ chunks: any RequestBody.Chunks, of length: Int?, _ isChunked: Bool, _ hop: inout HTTP.Hop
    ) async throws {
        var sent = 0
        if let filed = chunks as? any FiledChunks {
            try await send(filed.makePieces(), of: length, isChunked, &sent, &hop)
        } else {
            for try await chunk in chunks where !chunk.isEmpty {
                try await send(chunk, of: length, isChunked, &sent, &hop)
            }
        }
        try Task.checkCancellation()
        guard let length, sent < length else { return }
        throw mismatch("\(length - sent) of the \(length) bytes announced are missing", hop)
    }

    private func send(
        _ chunk: Bytes, of length: Int?, _ isChunked: Bool, _ sent: inout Int, _ hop: inout HTTP.Hop
    ) async throws {
        try count(chunk.count, of: length, &sent, hop)
        try await writer.pass(hop)
        try await write(isChunked ? Self.framed(chunk) : chunk, &hop)
        writer.context.control?.sent(chunk.count)
        if let length, sent == length, !isChunked { state.withLock { $0.hasAllWritten = true } }
    }

    /// Sends a part that is a file as a body that is one.
    private func send(
        _ pieces: consuming some BodyPieces, of length: Int?, _ isChunked: Bool, _ sent: inout Int,
        _ hop: inout HTTP.Hop
    ) async throws {
        while let piece = try await pieces.next() {
            switch piece {
            case .bytes(let chunk):
                if chunk.isEmpty { continue }
                try await send(chunk, of: length, isChunked, &sent, &hop)
            case .file(let file):
                try Task.checkCancellation()
                try count(file.length, of: length, &sent, hop)
                do {
                    try await frame(file.length, isChunked, &hop) { hop in try await send(file, &hop) }
                } catch let error as NetworkError where error.code.blamesTheBody {
                    throw pieces.explained(error)
                }
            }
        }
    }

    private func count(_ more: Int, of length: Int?, _ sent: inout Int, _ hop: HTTP.Hop) throws {
        if let length, more > length - sent {
            throw mismatch("more than the \(length) bytes announced", hop)
        }
        sent += more
    }

    private func sendEnd(_ hop: inout HTTP.Hop) async throws {
        let trailers = try await body.trailers?.make() ?? Fields()
        var end: [UInt8] = []
        do throws(WireError) {
            try ChunkEncoder.appendEnd(trailers: trailers, into: &end)
        } catch {
            throw writer.context.error(.invalidRequest, "the trailers cannot be sent", in: .send, hop, cause: error)
        }
        try await write(Bytes(end), &hop)
    }

    private func mismatch(_ reason: String, _ hop: HTTP.Hop) -> NetworkError {
        writer.context.error(.bodyLengthMismatch, "the request body has \(reason)", in: .send, hop)
    }
}
