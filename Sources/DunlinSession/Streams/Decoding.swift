internal import DunlinInflate
internal import DunlinTransport

/// Removes a response's content codings: those on a list, chained, streamed, within limits.
///
/// Two kinds of content stay unchanged: content in a coding that is not on the list (only the caller can have asked for
/// it), and partial content (206), because ranges of coded content are ranges of its coded bytes. So a coded part is
/// useful only to a caller who asked for it. The head's fields stay as received, so `Content-Encoding` and
/// `Content-Length` describe what was on the wire.
struct Decoding: Sendable {
    let codecs: ContentCodecs
    let limits: InflateLimits

    init(_ limits: HTTPSession.Limits, _ codecs: ContentCodecs = .known) {
        self.codecs = codecs
        var inflate = InflateLimits()
        inflate.decodedBytes = limits.decodedBytes.map { max(0, $0) }
        inflate.ratio = limits.decodingRatio
        self.limits = inflate
    }

    /// The number of bytes that are decoded where the response arrived, perhaps on a loop on which others wait. The
    /// rest of a longer body becomes a stream that is decoded where it is read.
    static let inPlace = 64 * 1024

    /// The response with plain content; nil if there is nothing to remove. `control` is told how much was decoded.
    func apply(to response: TransportResponse, observedBy control: TransferControl? = nil) throws -> TransportResponse?
    {
        guard response.head.fields.hasContentEncoding, response.head.status != .partialContent,
            let codings = try codings(of: response.head), !codings.isEmpty
        else { return nil }
        switch response.body {
        case .bytes(let coded):
            guard let plain = try decodeInPlace(coded, codings, response.head) else {
                let stream = try DecodedBody(WholeBodyStream(coded, response), codings, limits, response.head, control)
                return response.with(.stream(stream), response.hop)
            }
            var hop = response.hop
            hop.decodedBytes = plain.count
            return response.with(.bytes(plain), hop)
        case .stream(let stream):
            let decoded = try DecodedBody(stream, codings, limits, response.head, control)
            return response.with(.stream(decoded), response.hop)
        }
    }

    /// Whether this is partial content in a coding that would be removed from complete content.
    func isCodedPart(_ response: TransportResponse) -> Bool {
        guard response.head.status == .partialContent, response.head.fields.hasContentEncoding else { return false }
        if case .bytes(let bytes) = response.body, bytes.isEmpty { return false }
        do { return try codings(of: response.head).map { !$0.isEmpty } ?? false } catch { return true }
    }

    /// The error for a part that came coded though nobody asked for that.
    static func codedPart(_ head: ResponseHead) -> NetworkError {
        let codings = head.fields.values(of: "content-encoding").joined(separator: ", ")
        return NetworkError(
            .decodingFailed,
            "the server sent a compressed part (\(codings)) without being asked, and a part alone cannot be "
                + "decompressed; set the field Accept-Encoding yourself to receive its bytes as they come",
            phase: .receive, requestMayHaveBeenSent: true, response: head)
    }

    private func codings(of head: ResponseHead) throws -> [ContentCodec]? {
        do throws(InflateError) {
            return try codecs.chain(head.fields.values(of: "content-encoding"), limit: limits.codings)
        } catch {
            throw error.asNetworkError(head)
        }
    }

    /// The decoded bytes; nil if that is too much work here.
    private func decodeInPlace(_ coded: Bytes, _ codings: [ContentCodec], _ head: ResponseHead) throws -> Bytes? {
        guard coded.count <= Self.inPlace, !Self.saysItIsLong(coded, codings) else { return nil }
        do throws(InflateError) {
            var decoder = try ContentDecoder(codings, limits: limits)
            var plain: [UInt8] = []
            decoder.feed(coded)
            while let piece = try decoder.next() {
                guard plain.count + piece.count <= Self.inPlace else { return nil }
                piece.withUnsafeBytes { plain.append(contentsOf: $0) }
            }
            try decoder.finish()
            return Bytes(plain)
        } catch {
            throw error.asNetworkError(head)
        }
    }

    /// Whether the content says that it is long, as some codings do. This is checked before work begins that might have
    /// to be repeated elsewhere, and trusted no further, since it may be false.
    private static func saysItIsLong(_ coded: Bytes, _ codings: [ContentCodec]) -> Bool {
        guard let length = codings.last?.contentLength(saidBy: coded) else { return false }
        return length > inPlace
    }
}

extension InflateError {
    func asNetworkError(_ head: ResponseHead) -> NetworkError {
        let limit = setting.map { "`configuration.limits.\($0)`" } ?? "a fixed limit"
        return NetworkError(
            isLimit ? .limitExceeded : .invalidContent,
            isLimit ? "the decoded content exceeds \(limit)" : "the content does not match its content coding",
            phase: .receive, requestMayHaveBeenSent: true, underlying: self, response: head)
    }
}

extension Fields {
    /// Checked for every response, so lengths are compared first.
    fileprivate var hasContentEncoding: Bool {
        for entry in entries where entry.nameCount == 16 { return contains("content-encoding") }
        return false
    }
}
