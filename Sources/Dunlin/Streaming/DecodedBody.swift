internal import DunlinInflate
internal import Synchronization

/// A body with its content codings taken off as it is read: one piece of wire is read when the last one is used up.
final class DecodedBody: BodyStream {
    /// What reading needs; taken out by whoever reads, so that there is one reader at a time.
    private struct Work: ~Copyable {
        var decoder: ContentDecoder
        let source: any BodyStream
    }

    private enum State: ~Copyable {
        case idle(Work)
        case busy
        case ended
        case failed(any Error)
    }

    private enum Turn: ~Copyable {
        case read(Work)
        case nothing
        case fail(any Error)
    }

    private let head: ResponseHead
    private let state: Mutex<State>
    private let record: Mutex<(attempt: Attempt, trailers: Fields)>

    init(
        _ source: any BodyStream, _ codings: [ContentCoding], _ limits: InflateLimits, _ head: ResponseHead
    ) throws {
        let decoder: ContentDecoder
        do throws(InflateError) {
            decoder = try ContentDecoder(codings, limits: limits)
        } catch {
            throw error.asNetworkError(head)
        }
        self.head = head
        record = Mutex((source.attempt, Fields()))
        state = Mutex(.idle(Work(decoder: decoder, source: source)))
    }

    /// The length on the wire says nothing of the length to come.
    var expectedLength: Int? { nil }
    var trailers: Fields { record.withLock { $0.trailers } }
    var attempt: Attempt { record.withLock { $0.attempt } }

    func next() async throws -> Bytes? {
        switch beginReading() {
        case .nothing: return nil
        case .fail(let error): throw error
        case .read(let work): return try await next(work)
        }
    }

    private func beginReading() -> Turn {
        state.withLock { state in
            switch consume state {
            case .idle(let work):
                state = .busy
                return .read(work)
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

    private func next(_ taken: consuming Work) async throws -> Bytes? {
        var work = taken
        do {
            while true {
                if let piece = try work.decoder.next() {
                    note(work.source.attempt, work.decoder.decodedCount, Fields())
                    putBack(work)
                    return piece
                }
                guard let wire = try await work.source.next() else { break }
                work.decoder.feed(wire)
            }
            try work.decoder.finish()
            note(work.source.attempt, work.decoder.decodedCount, work.source.trailers)
            state.withLock { $0 = .ended }
            return nil
        } catch {
            let failure = (error as? InflateError)?.asNetworkError(head) ?? error
            note(work.source.attempt, work.decoder.decodedCount, Fields())
            state.withLock { $0 = .failed(failure) }
            throw failure
        }
    }

    private func putBack(_ work: consuming Work) {
        var next: State? = .idle(work)
        state.withLock { $0 = next.take() ?? .ended }
    }

    private func note(_ attempt: Attempt, _ decoded: Int, _ trailers: Fields) {
        var attempt = attempt
        attempt.decodedBytes = decoded
        record.withLock { [attempt] in $0 = (attempt, trailers) }
    }
}
