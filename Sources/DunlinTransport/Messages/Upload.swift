internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// The sending half of an exchange whose body is sent while the response is awaited and read. It takes and writes the
/// body, and performs the actions of `UploadMachine`.
///
/// A child task of an `UploadScope` runs it, and nothing outlives that. It writes nothing to a peer that has ended its
/// side, though the kernel would take it: a request counts as complete only if it was written while the connection was
/// intact. The lock protects only the machine; its actions are performed outside.
final class Upload: Sendable {
    let writer: RequestWriter
    /// The part of the head that is still to be sent.
    private let opening: Bytes
    private let file: FileSource?
    /// The hop at the beginning of the upload.
    private let hop: HTTP.Hop
    private let machine: Mutex<UploadMachine>
    /// Delivered when the upload is over.
    private let end: ValueWaiter<Void>
    /// Delivered when the scope need not run it any more, or must cancel it.
    private let release: ValueWaiter<Void>

    /// Creates an upload; `hop` counts the bytes of the head that were sent before.
    init(_ opening: Bytes, _ file: FileSource?, _ writer: RequestWriter, after hop: HTTP.Hop) {
        machine = Mutex(UploadMachine(after: hop.bytesSent))
        self.hop = hop
        self.opening = opening
        self.file = file
        var writer = writer
        writer.checksEnd = true
        self.writer = writer
        end = ValueWaiter(on: writer.context.clock.reactor)
        release = ValueWaiter(on: writer.context.clock.reactor)
    }

    /// The outcome; nil while it runs.
    var outcome: UploadMachine.Outcome? { machine.withLock { $0.outcome } }
    /// When the outcome was set.
    var ended: HTTP.Instant? { machine.withLock { $0.ended } }
    var isOver: Bool { machine.withLock { $0.isOver } }
    var isComplete: Bool { machine.withLock { $0.isComplete } }
    /// Whether the answer ended the sending.
    var isStopped: Bool { machine.withLock { $0.isStopped } }
    var wasRefused: Bool { machine.withLock { $0.head.map { !$0.status.isSuccess } ?? false } }
    var hasBegun: Bool { machine.withLock { $0.hasBegun } }
    var isAnsweredEarly: Bool { machine.withLock { $0.isAnsweredEarly } }
    var wasReset: Bool { machine.withLock { $0.wasReset } }
    var mayReuse: Bool { machine.withLock { $0.mayReuse } }

    /// Whether it runs off the loop, as body producers (the user's code) and files (which may wait for a disk) do.
    var runsOffLoop: Bool {
        switch body.content {
        case .none, .bytes: body.trailers != nil
        case .stream, .file: true
        }
    }

    /// Notes how much was sent.
    func noteSent(in hop: inout HTTP.Hop) {
        (hop.bytesSent, hop.requestBodyBytes) = machine.withLock { ($0.bytesSent, $0.bodyBytesSent) }
    }

    private var body: RequestBody { writer.context.request.body }

    /// The error to report for the reader's failure: the sender's own, if there is one, since it explains the silence
    /// that it caused. `hop` is the reader's; nil if its error has it.
    func explain(_ error: any Error, _ hop: HTTP.Hop? = nil) -> any Error {
        let (outcome, sent, answer, lacksBody) = machine.withLock {
            ($0.outcome, $0.mayHaveSent && $0.hasBegun, $0.head, $0.lacksBody)
        }
        if case .failed(let cause)? = outcome {
            let hop = ended(hop ?? (error as? NetworkError)?.hop ?? self.hop)
            // A body may be made from another request, whose error knows nothing of this one.
            guard var own = cause as? NetworkError else {
                writer.context.control?.untoldHop = hop
                return cause
            }
            own.hop = hop
            own.requestMayHaveBeenSent = own.requestMayHaveBeenSent || sent
            own.isSafeToRetry = own.isSafeToRetry && (!sent || writer.context.request.head.isRepeatable)
            // A body's error says nothing about this connection.
            own.connectionWasReused = own.connectionWasReused && !sent
            return own
        }
        guard var failure = error as? NetworkError else { return error }
        if var hop = failure.hop {
            noteSent(in: &hop)
            failure.hop = hop
        }
        failure.response = failure.response ?? answer
        failure.requestMayHaveBeenSent = sent
        failure.isSafeToRetry = !sent || writer.context.request.head.isRepeatable
        if failure.phase == .send, case .complete? = outcome { failure.phase = .firstByte }
        if failure.phase == .send, failure.code == .timedOut, lacksBody {
            failure.reason = "timed out sending the request: its body produced no more bytes"
        }
        return failure
    }

    /// The hop of an exchange that ended with the sending.
    private func ended(_ hop: HTTP.Hop) -> HTTP.Hop {
        var hop = hop
        noteSent(in: &hop)
        hop.ended = ended ?? writer.context.clock.now()
        hop.fill(.send)
        return hop
    }

    private func act(on action: UploadMachine.Action) {
        let stream = writer.stream
        switch action {
        case .none, .send: break
        case .wakeReader: stream.channel.wakeReader()
        case .close: stream.close()
        case .cancel:
            stream.channel.stopWriting()
            _ = release.deliver(())
        case .tellEnd(let scopeToo):
            _ = end.deliver(())
            if scopeToo { _ = release.deliver(()) }
        }
    }
}

// MARK: - The reader's side

extension Upload {
    /// The purpose of a reader's wait that begins at `start`. A reader that is woken meanwhile asks again.
    func wait(from start: HTTP.Instant) -> UploadMachine.Wait {
        machine.withLock { $0.wait(from: start) }
    }

    /// Notes that the response's head has come. Its body may take its time while there is more to send.
    func noteAnswer(_ head: ResponseHead) {
        machine.withLock { $0.answered(head) }
    }

    /// Ends the sending, because the server would discard the rest.
    func stop() {
        act(on: machine.withLock { $0.stop() })
    }

    /// Whether nothing has to be awaited before the response's end, which may also be the connection's.
    func isSettled(endingConnection: Bool) -> Bool {
        machine.withLock { $0.isSettled(endingConnection: endingConnection) }
    }

    /// Notes that the whole response has come: the end of the sending will now wake the reader. Returns false if it has
    /// ended.
    func awaitEnd() -> Bool {
        machine.withLock { $0.awaitEnd() }
    }

    /// Notes that not all bytes that the kernel took reached the peer.
    func noteCut() {
        machine.withLock { $0.noteCut() }
    }

    /// The error for a success after which the peer did not stay to read the request.
    func cut(_ hop: HTTP.Hop) -> NetworkError {
        let answer = machine.withLock { $0.head }
        let said = answer.map { "answered \($0.status) and " } ?? ""
        var error = writer.context.closed(
            "the server \(said)closed the connection before it had the whole request", .send, hop)
        error.response = answer
        error.requestMayHaveBeenSent = true
        error.isSafeToRetry = writer.context.request.head.isRepeatable
        return error
    }

    /// Waits until the upload is over. Call it only once.
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
        _ = await release.wait(until: .never, cancellation: nil)
    }

    func run() async {
        if machine.withLock({ $0.begin() }) == .send { await sendAll() }
        act(on: machine.withLock { $0.leave() })
    }

    private func sendAll() async {
        var hop = hop
        defer { writer.context.observer?.saw(.requestSent(bytes: hop.bytesSent)) }
        do {
            try await send(&hop)
            finish(.complete)
        } catch let error as PeerGone {
            // The peer may have answered before it closed; the reader will find out.
            finish(.cut(byReset: error.byReset))
        } catch {
            // A producer's error after a cancel is reported as the reason for the cancel.
            let isOwn = error is NetworkError || writer.context.cancellation.cause == nil
            finish(.failed(isOwn ? error : writer.context.cancelled(.send, hop)))
        }
    }

    private func finish(_ outcome: UploadMachine.Outcome) {
        let now = writer.context.clock.now()
        act(on: machine.withLock { $0.end(outcome, at: now) })
    }

    private func write(
        _ bytes: Bytes, more: Bool = false, counted: Bool = false, _ hop: inout HTTP.Hop
    ) async throws {
        try await writing(&hop) { hop in
            try await writer.write(bytes, more: more, counted: counted, &hop, of: self)
        }
    }

    /// Notes that the first byte is about to be tried.
    func beginWriting() {
        machine.withLock { $0.beginWriting() }
    }

    /// The peer has closed this connection. A body may be made from another connection, whose loss is no reason to wait
    /// for an answer.
    private struct PeerGone: Error {
        let byReset: Bool
    }

    private func writing<Value>(
        _ hop: inout HTTP.Hop, _ write: (inout HTTP.Hop) async throws -> Value
    ) async throws -> Value {
        try checkWanted()
        defer { note(hop) }
        do {
            return try await write(&hop)
        } catch let error as NetworkError where error.code == .connectionClosed && hasBegun {
            throw PeerGone(byReset: (error.underlying as? Errno).map { !$0.meansEndedBefore } ?? false)
        }
    }

    /// Throws if the sending was stopped, an error that then does not matter. A cancel reaches the connection and waits
    /// on it at once; code that does not wait checks here.
    private func checkWanted() throws {
        guard writer.context.cancellation.cause == nil, machine.withLock({ $0.mayBeginWriting() }) else {
            throw CancellationError()
        }
    }

    private func note(_ hop: HTTP.Hop) {
        machine.withLock { $0.wrote(upTo: hop.bytesSent, ofBody: hop.requestBodyBytes) }
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
            try await send(try body.isTakenOnce ? take(make) : make(), of: length, isChunked, &hop)
        }
        if isChunked { try await write(try await writer.context.end(of: body, hop), &hop) }
    }

    /// Takes a body that can be sent once, unless the sending was stopped: then it is left to the next attempt.
    ///
    /// It is taken in the same step that looks, because whoever stopped the sending asks next whether it was taken.
    private func take(_ make: () -> any RequestBody.Chunks) throws -> any RequestBody.Chunks {
        guard let chunks = machine.withLock({ $0.mayWrite ? make() : nil }) else { throw CancellationError() }
        return chunks
    }

    /// Whether the body's first byte follows the head at once, and may share its segment.
    private var bodyIsAtHand: Bool {
        switch body.content {
        case .bytes(let bytes): !bytes.isEmpty
        case .file: file?.range.isEmpty == false
        case .none, .stream: false
        }
    }

    /// The whole body, framed as one chunk or unframed.
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
            offset += try await writing(&hop) { hop in
                try await writer.send(source.file, from: offset, upTo: source.range.upperBound, &hop)
            }
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
        try writer.context.checkEnd(after: sent, of: length, hop)
    }

    private func send(
        _ chunk: Bytes, of length: Int?, _ isChunked: Bool, _ sent: inout Int, _ hop: inout HTTP.Hop
    ) async throws {
        try writer.context.count(chunk.count, of: length, &sent, hop)
        try await writer.pass(hop)
        try await writing(&hop) { hop in
            try await writer.write(isChunked ? Self.framed(chunk) : chunk, &hop, of: self)
            hop.requestBodyBytes += chunk.count
        }
        writer.context.control?.sent(chunk.count)
        if let length, sent == length, !isChunked { machine.withLock { $0.wroteAll() } }
    }

    /// Sends a part that is a file in the same way as a body that is one.
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
                try writer.context.count(file.length, of: length, &sent, hop)
                do {
                    try await frame(file.length, isChunked, &hop) { hop in try await send(file, &hop) }
                } catch let error as NetworkError where error.code.blamesTheBody {
                    throw pieces.explained(error)
                }
            }
        }
    }
}
