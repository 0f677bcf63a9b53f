internal import DunlinInflate
internal import DunlinTransport

/// A body whose content codings are removed as it is read: a chunk is read from the wire when the last one is used up.
final class DecodedBody: WrappedBody {
    /// The state for reading; the reader takes it out meanwhile.
    private struct Work: ~Copyable {
        var decoder: ContentDecoder
        let source: any TransportResponse.BodyStream
    }

    let source: (any TransportResponse.BodyStream)?
    private let head: ResponseHead
    private let control: TransferControl?
    private let reader: SoleReader<Work>

    init(
        _ source: any TransportResponse.BodyStream, _ codings: [ContentCodec], _ limits: InflateLimits,
        _ head: ResponseHead,
        _ control: TransferControl? = nil
    ) throws {
        let decoder: ContentDecoder
        do throws(InflateError) {
            decoder = try ContentDecoder(codings, limits: limits)
        } catch {
            throw error.asNetworkError(head)
        }
        self.source = source
        self.head = head
        self.control = control
        reader = SoleReader(Work(decoder: decoder, source: source), after: source.hop)
    }

    /// The length on the wire says nothing about the decoded length.
    var expectedLength: Int? { nil }
    var trailers: Fields { reader.trailers }
    var hop: HTTP.Hop { reader.hop }

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
                    let hop = hop(of: work)
                    reader.putBack(work, after: hop)
                    return piece
                }
                guard let wire = try await work.source.next() else { break }
                work.decoder.feed(wire)
            }
            try work.decoder.finish()
            reader.end(after: hop(of: work), work.source.trailers)
            return nil
        } catch {
            let failure = (error as? InflateError)?.asNetworkError(head) ?? error
            reader.fail(failure, after: hop(of: work))
            throw failure
        }
    }

    /// The source's hop with the decoded bytes, which the control is told too.
    private func hop(of work: borrowing Work) -> HTTP.Hop {
        var hop = work.source.hop
        hop.decodedBytes = work.decoder.decodedCount
        control?.decoded(upTo: hop.decodedBytes)
        return hop
    }
}
