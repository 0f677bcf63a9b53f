/// How a request's body is announced.
public enum RequestFraming: Sendable, Hashable {
    /// No body. POST, PUT and PATCH say so by `Content-Length: 0` (RFC 9110 §8.6); other methods do not mention it.
    case none
    /// A length. Zero is not sent for GET, HEAD and DELETE.
    case length(Int)
    case chunked
}

/// What a request's own fields require of its connection.
public struct RequestTraits: Sendable, Hashable {
    /// Whether the request has `Connection: close`, so no other may follow on its connection.
    public var asksToClose = false
    /// Whether the request has `Expect: 100-continue`.
    public var expectsContinue = false

    public init(asksToClose: Bool = false, expectsContinue: Bool = false) {
        self.asksToClose = asksToClose
        self.expectsContinue = expectsContinue
    }
}
