/// How a request's body is announced.
public enum RequestFraming: Sendable, Hashable {
    /// No body. POST, PUT and PATCH say so with `Content-Length: 0` (RFC 9110 §8.6); other methods say nothing.
    case none
    /// A length of zero goes without saying for GET, HEAD and DELETE.
    case length(Int)
    case chunked
}

/// What a request's own fields ask of the connection it goes out on.
public struct RequestTraits: Sendable, Hashable {
    /// The request says `Connection: close`: no other may follow on its connection.
    public var asksToClose = false
    /// The request says `Expect: 100-continue`.
    public var expectsContinue = false

    public init(asksToClose: Bool = false, expectsContinue: Bool = false) {
        self.asksToClose = asksToClose
        self.expectsContinue = expectsContinue
    }
}
