internal import Dunlin
internal import DunlinTransport
internal import Synchronization

/// What a recorded exchange answers.
struct RecordedAnswer: Sendable {
    let head: ResponseHead?
    let body: Bytes
    /// The error that ended the exchange, after the head and the body if there are any.
    let failure: NetworkError?
    /// Until the head, or until the error that came in its place.
    let wait: Duration

    /// Throws if the archive does not have what is needed.
    init(_ entry: HAR.Entry) throws(HAR.Problem) {
        let response = entry.response
        failure = response.error.flatMap { $0.isEmpty ? nil : NetworkError($0, response) }
        let milliseconds = response.status == 0 ? entry.time : entry.timings.wait ?? 0
        wait = .microseconds(Int64(min(max(0, milliseconds), 1e12) * 1000))
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
        // A body that broke off ends in the failure, however much of it is known.
        if failure == nil, response.content.isCut == true {
            throw HAR.Problem(
                reason: "\(entry.name) does not have all of its body (\(response.content.comment ?? "_cut"))")
        }
        let hasNoBody = response.status == 204 || response.status == 304 || entry.request.method == "HEAD"
        if let bytes = response.content.bytes {
            body = bytes
        } else {
            guard failure != nil || hasNoBody || response.content.text == nil && (response.content.size ?? 0) <= 0
            else {
                throw HAR.Problem(
                    reason: "\(entry.name) has no body, or no Base64; save the archive with contents")
            }
            body = .empty
        }
        var fields = Fields()
        for field in response.headers where Self.isReplayed(field.name, hasNoBody: hasNoBody) {
            // A browser joins fields of one name with line breaks.
            for value in field.value.split(separator: "\n", omittingEmptySubsequences: false) {
                fields.append(name: field.name, value: String(value))
            }
        }
        head = ResponseHead(status: HTTP.Status(response.status), fields: fields)
    }

    /// Fields of HTTP/2, and those that frame the message, say nothing of the body that is replayed, and neither do
    /// codings that were undone.
    private static func isReplayed(_ name: String, hasNoBody: Bool) -> Bool {
        switch name.lowercased() {
        // There they speak of a body that is not sent.
        case "content-length", "content-encoding": hasNoBody
        case "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade",
            "trailer":
            false
        case let name: !name.hasPrefix(":")
        }
    }

    func response(_ hop: HTTP.Hop) async throws -> TransportResponse {
        if head == nil, let failure { try await failure.waitIfCancelled() }
        guard let head else { throw failure ?? NetworkError(.connectionClosed, "the recorded exchange failed") }
        var hop = hop
        (hop.bodyBytes, hop.decodedBytes) = (body.count, body.count)
        guard var failure else { return TransportResponse(head: head, body: .bytes(body), hop: hop) }
        failure.response = head
        return TransportResponse(head: head, body: .stream(BrokenBody(body, failure, hop)), hop: hop)
    }
}

extension NetworkError {
    /// The error that was recorded.
    fileprivate init(_ code: String, _ response: HAR.Response) {
        self.init(
            Code(code), "the recorded exchange failed",
            phase: response.errorPhase.flatMap { HTTP.Phase(rawValue: $0) }
                ?? (response.status == 0 ? .firstByte : .receive),
            requestMayHaveBeenSent: response.isUnsent != true, isSafeToRetry: response.isSafeToRetry == true)
    }

    /// A request that was cancelled had no answer to wait for; it is cancelled again, and for the same reason.
    fileprivate func waitIfCancelled() async throws {
        if code == .cancelled { try await Task.sleep(for: .seconds(86_400)) }
    }
}

/// A body that breaks off where the recorded one did.
private final class BrokenBody: TransportResponse.BodyStream {
    let expectedLength: Int? = nil
    let trailers = Fields()
    let hop: HTTP.Hop
    private let error: NetworkError
    private let rest: Mutex<Bytes>

    init(_ bytes: Bytes, _ error: NetworkError, _ hop: HTTP.Hop) {
        rest = Mutex(bytes)
        (self.error, self.hop) = (error, hop)
    }

    func next() async throws -> Bytes? {
        let bytes = rest.withLock { rest in
            defer { rest = .empty }
            return rest
        }
        if bytes.isEmpty {
            try await error.waitIfCancelled()
            throw error
        }
        return bytes
    }
}
