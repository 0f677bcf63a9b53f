internal import Dunlin
internal import DunlinTransport

/// What a recorded exchange answers.
struct RecordedAnswer: Sendable {
    let head: ResponseHead?
    let body: Bytes
    /// The error that ended the exchange, after the head and the body if there are any.
    let failure: String?
    /// Until the head, and until the end of the body.
    let wait: Duration

    /// Throws if the archive does not have what is needed.
    init(_ entry: HAR.Entry) throws(HAR.Problem) {
        let response = entry.response
        failure = response.error.flatMap { $0.isEmpty ? nil : $0 }
        wait = .microseconds(Int64(max(0, (entry.timings.wait ?? 0) * 1000)))
        guard response.status != 0 else {
            guard failure != nil else {
                throw HAR.Problem(reason: "\(entry.name) has no response, and no `_error` that says why")
            }
            (head, body) = (nil, .empty)
            return
        }
        guard (200...599).contains(response.status) else {
            throw HAR.Problem(reason: "\(entry.name) has the status \(response.status), which is no answer to replay")
        }
        if response.content.isCut == true {
            throw HAR.Problem(reason: "\(entry.name) has only the beginning of its body; record with a larger limit")
        }
        let hasNoBody = response.status == 204 || response.status == 304 || entry.request.method == "HEAD"
        if let bytes = response.content.bytes {
            body = bytes
        } else {
            guard hasNoBody || response.content.text == nil && (response.content.size ?? 0) <= 0 else {
                throw HAR.Problem(
                    reason: "\(entry.name) has no body, or no Base64; save the archive with contents")
            }
            body = .empty
        }
        var fields = Fields()
        for field in response.headers where Self.isReplayed(field.name, response.content) {
            // A browser joins fields of one name with line breaks.
            for value in field.value.split(separator: "\n", omittingEmptySubsequences: false) {
                fields.append(name: field.name, value: String(value))
            }
        }
        head = ResponseHead(status: HTTP.Status(response.status), fields: fields)
    }

    /// Fields of HTTP/2, and those that frame the message, say nothing of the body that is replayed, and neither do
    /// codings that were undone.
    private static func isReplayed(_ name: String, _ content: HAR.Content) -> Bool {
        switch name.lowercased() {
        case "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade",
            "trailer":
            false
        case "content-encoding": content.isCoded == true
        case let name: !name.hasPrefix(":")
        }
    }

    func response(_ hop: HTTP.Hop) throws -> TransportResponse {
        let error = failure.map {
            NetworkError(
                NetworkError.Code($0), "the recorded exchange failed", phase: head == nil ? .firstByte : .receive,
                requestMayHaveBeenSent: true, response: head)
        }
        guard let head else { throw error ?? NetworkError(.connectionClosed, "the recorded exchange failed") }
        var hop = hop
        (hop.bodyBytes, hop.decodedBytes) = (body.count, body.count)
        guard let error else { return TransportResponse(head: head, body: .bytes(body), hop: hop) }
        return TransportResponse(head: head, body: .stream(BrokenBody(body, error, hop)), hop: hop)
    }
}

extension HAR.Entry {
    /// The request in a few words, for errors.
    var name: String { "\(request.method) \(request.url)" }
}

/// A body that breaks off where the recorded one did.
private final class BrokenBody: TransportResponse.BodyStream {
    let expectedLength: Int? = nil
    let trailers = Fields()
    let hop: HTTP.Hop
    private let error: NetworkError
    private let rest: Once<Bytes>

    init(_ bytes: Bytes, _ error: NetworkError, _ hop: HTTP.Hop) {
        (rest, self.error, self.hop) = (Once(bytes), error, hop)
    }

    func next() async throws -> Bytes? {
        guard let bytes = rest.take(), !bytes.isEmpty else { throw error }
        return bytes
    }
}
