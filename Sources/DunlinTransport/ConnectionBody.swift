internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire
internal import Synchronization

/// A response body read from its connection as somebody asks for it: nothing is read ahead, so a slow reader stalls
/// the server.
///
/// The request may still be on its way out. Then the server may be silent for as long as it is, and the body does not
/// end before it: a success that comes early says nothing of what has not been sent.
///
/// Owns the lease while the body lasts. At a clean end the connection goes back to the pool; after an error, a cancel,
/// or when the last reference goes before the end, it is closed.
final class ConnectionBody: BodyStream {
    /// What reading needs; taken out by whoever reads, so that there is one reader at a time.
    struct Reading: ~Copyable {
        var lease: Lease
        var reader: ResponseReader
        var body: BodyReader
        /// Received and not yet looked at from `offset` on.
        var chunk: Bytes
        var offset = 0
        let upload: Upload?
        /// What is received into: the memory of `chunk`, used again if whoever got a piece of it has let go.
        var buffer: [UInt8] = []
        var canReuse: Bool
        var readSize = 64 * 1024

        init(
            lease: consuming Lease, reader: consuming ResponseReader, body: BodyReader, chunk: Bytes, upload: Upload?,
            canReuse: Bool
        ) {
            self.lease = lease
            self.reader = reader
            self.body = body
            self.chunk = chunk
            self.upload = upload
            self.canReuse = canReuse
        }
    }

    private enum State: ~Copyable {
        case idle(Reading)
        case busy
        case ended
        case failed(any Error)
    }

    /// What a reader finds when it comes.
    private enum Turn: ~Copyable {
        case read(Reading)
        case nothing
        case fail(any Error)
    }

    let expectedLength: Int?
    private let context: ExchangeContext
    private let state: Mutex<State>
    private let record: Mutex<(attempt: Attempt, trailers: Fields)>

    init(_ reading: consuming Reading, _ framing: BodyFraming, _ attempt: Attempt) {
        if case .length(let length) = framing { expectedLength = length } else { expectedLength = nil }
        context = reading.reader.context
        state = Mutex(.idle(reading))
        record = Mutex((attempt, Fields()))
    }

    deinit {
        context.interrupt.disarm()
    }

    var trailers: Fields { record.withLock { $0.trailers } }
    var attempt: Attempt { record.withLock { $0.attempt } }

    func next() async throws -> Bytes? {
        try await withTaskCancellationHandler {
            switch beginReading() {
            case .nothing: return nil
            case .fail(let error): throw error
            case .read(let reading): return try await next(reading)
            }
        } onCancel: {
            context.interrupt.cancel(.task)
        }
    }

    @inline(never)
    private func beginReading() -> Turn {
        state.withLock { state in
            switch consume state {
            case .idle(let reading):
                state = .busy
                return .read(reading)
            case .busy:
                state = .busy
                let error = NetworkError(.bodyConsumed, "the body is already being read by another task", phase: .idle)
                return .fail(error)
            case .ended:
                state = .ended
                return .nothing
            case .failed(let error):
                state = .failed(error)
                return .fail(error)
            }
        }
    }

    private func next(_ taken: consuming Reading) async throws -> Bytes? {
        var reading = taken
        let upload = reading.upload
        var attempt = attempt
        do {
            while true {
                switch try step(&reading, attempt) {
                case .data(let range):
                    reading.offset = range.upperBound
                    let piece = reading.chunk[range]
                    attempt.bodyBytes += piece.count
                    attempt.decodedBytes += piece.count
                    putBack(reading, attempt)
                    return piece
                case .needMore:
                    if try await refill(&reading, &attempt) { continue }
                    if let upload { _ = try await settle(upload, &attempt) }
                    finish(reading, attempt, isClean: false)
                    return nil
                case .end(let consumed):
                    if let upload, try await !settle(upload, &attempt) { reading.canReuse = false }
                    let isClean = reading.canReuse && consumed == reading.chunk.count && !reading.reader.mayHaveMore
                    finish(reading, attempt, isClean: isClean)
                    return nil
                }
            }
        } catch {
            upload?.stop()
            let error = upload?.explain(error) ?? error
            record.withLock { [attempt] in $0.attempt = attempt }
            state.withLock { $0 = .failed(error) }
            throw error
        }
    }

    /// Waits for the request's end; false if the peer did not take all of it.
    private func settle(_ upload: Upload, _ attempt: inout Attempt) async throws -> Bool {
        if !upload.isOver { try await upload.waitForEnd(attempt) }
        attempt.bytesSent = upload.bytesSent
        if case .failed(let error) = upload.outcome { throw error }
        return upload.isComplete
    }

    @inline(never)
    private func step(_ reading: inout Reading, _ attempt: Attempt) throws -> BodyStep {
        let chunk = reading.chunk
        do throws(WireError) {
            return try reading.body.next(in: chunk.span.bytes, from: reading.offset)
        } catch {
            throw context.invalid(error, .idle, attempt)
        }
    }

    /// Reads more; false at the end of the stream, if the body may end there.
    private func refill(_ reading: inout Reading, _ attempt: inout Attempt) async throws -> Bool {
        let start = context.clock.now()
        let phase = reading.upload?.phaseOfReader ?? .idle
        reading.chunk = .empty
        try await reading.reader.next(into: &reading.buffer, upTo: reading.readSize, in: phase, since: start, &attempt)
        attempt[.idle] += context.clock.now().nanoseconds - start.nanoseconds
        let count = reading.buffer.count
        // A few bytes must not keep a large buffer alive, should the reader keep them.
        reading.chunk = count * 16 < reading.buffer.capacity ? Bytes(Array(reading.buffer[...])) : Bytes(reading.buffer)
        if count == reading.readSize { reading.readSize = Connection.bulkRead }
        reading.offset = 0
        guard count == 0 else { return true }
        do throws(WireError) {
            try reading.body.endOfStream()
        } catch {
            throw context.invalid(error, .idle, attempt)
        }
        return false
    }

    @inline(never)
    private func putBack(_ reading: consuming Reading, _ attempt: Attempt) {
        record.withLock { $0.attempt = attempt }
        let old = swap(.idle(reading))
        _ = consume old
    }

    private func swap(_ new: consuming State) -> State {
        var new: State? = consume new
        return state.withLock { state in
            let old = consume state
            state = new.take() ?? .ended
            return old
        }
    }

    @inline(never)
    private func finish(_ taken: consuming Reading, _ attempt: Attempt, isClean: Bool) {
        var attempt = attempt
        attempt.ended = context.clock.now()
        context.interrupt.disarm()
        let reading = taken
        record.withLock { [attempt] in $0 = (attempt, reading.body.trailers) }
        state.withLock { $0 = .ended }
        if isClean { reading.lease.giveBack(at: attempt.ended) }
    }
}
