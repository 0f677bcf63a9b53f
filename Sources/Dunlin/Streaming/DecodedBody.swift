internal import DunlinInflate
internal import DunlinTransport
internal import Synchronization

/// A body with its content codings taken off as it is read: one piece of wire is read when the last one is used up.
final class DecodedBody: BodyStream {
    /// What reading needs; taken out by whoever reads.
    private struct Work: ~Copyable {
        var decoder: ContentDecoder
        let source: any BodyStream
    }

    private let head: ResponseHead
    private let watch: TransferWatch?
    private let reader: SoleReader<Work>
    private let record: Mutex<(attempt: Attempt, trailers: Fields)>

    init(
        _ source: any BodyStream, _ codings: [ContentCodec], _ limits: InflateLimits, _ head: ResponseHead,
        _ watch: TransferWatch? = nil
    ) throws {
        let decoder: ContentDecoder
        do throws(InflateError) {
            decoder = try ContentDecoder(codings, limits: limits)
        } catch {
            throw error.asNetworkError(head)
        }
        self.head = head
        self.watch = watch
        record = Mutex((source.attempt, Fields()))
        reader = SoleReader(Work(decoder: decoder, source: source))
    }

    /// The length on the wire says nothing of the length to come.
    var expectedLength: Int? { nil }
    var trailers: Fields { record.withLock { $0.trailers } }
    var attempt: Attempt { record.withLock { $0.attempt } }

    func next() async throws -> Bytes? {
        switch reader.begin() {
        case .over: return nil
        case .failed(let error): throw error
        case .read(let work): return try await next(work)
        }
    }

    private func next(_ taken: consuming Work) async throws -> Bytes? {
        var work = taken
        do {
            while true {
                if let piece = try work.decoder.next() {
                    note(work.source.attempt, work.decoder.decodedCount, Fields())
                    reader.putBack(work)
                    return piece
                }
                guard let wire = try await work.source.next() else { break }
                work.decoder.feed(wire)
            }
            try work.decoder.finish()
            note(work.source.attempt, work.decoder.decodedCount, work.source.trailers)
            reader.end()
            return nil
        } catch {
            let failure = (error as? InflateError)?.asNetworkError(head) ?? error
            note(work.source.attempt, work.decoder.decodedCount, Fields())
            reader.fail(failure)
            throw failure
        }
    }

    private func note(_ attempt: Attempt, _ decoded: Int, _ trailers: Fields) {
        var attempt = attempt
        attempt.decodedBytes = decoded
        watch?.decoded(upTo: decoded)
        record.withLock { [attempt] in $0 = (attempt, trailers) }
    }
}
