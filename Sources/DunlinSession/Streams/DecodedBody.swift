internal import DunlinInflate
internal import DunlinTransport

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
        reader = SoleReader(Work(decoder: decoder, source: source), after: source.attempt)
    }

    /// The length on the wire says nothing of the length to come.
    var expectedLength: Int? { nil }
    var trailers: Fields { reader.trailers }
    var attempt: Attempt { reader.attempt }

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
                    let attempt = attempt(of: work)
                    reader.putBack(work, after: attempt)
                    return piece
                }
                guard let wire = try await work.source.next() else { break }
                work.decoder.feed(wire)
            }
            try work.decoder.finish()
            reader.end(after: attempt(of: work), work.source.trailers)
            return nil
        } catch {
            let failure = (error as? InflateError)?.asNetworkError(head) ?? error
            reader.fail(failure, after: attempt(of: work))
            throw failure
        }
    }

    /// The source's, with what was decoded, of which the watch is told.
    private func attempt(of work: borrowing Work) -> Attempt {
        var attempt = work.source.attempt
        attempt.decodedBytes = work.decoder.decodedCount
        watch?.decoded(upTo: attempt.decodedBytes)
        return attempt
    }
}
