/// How a response's body ends, and what becomes of the connection then.
public struct MessageFraming: Sendable, Hashable {
    public var body: BodyFraming
    /// Another request may follow on the connection, once this body has been read to its end.
    ///
    /// Bytes beyond the end (see `BodyStep.end`) forbid it too: nobody asked for them.
    public var canReuse: Bool
    /// For how many idle seconds the server said it keeps the connection (`Keep-Alive: timeout=5`).
    public var keepAliveTimeout: Int?

    public init(body: BodyFraming, canReuse: Bool, keepAliveTimeout: Int? = nil) {
        self.body = body
        self.canReuse = canReuse
        self.keepAliveTimeout = keepAliveTimeout
    }
}

/// Where a body ends (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Hashable {
    case none
    case length(Int)
    case chunked
    /// The body is all that comes; the end of the stream is its end.
    case untilClose
    /// What follows the head is no HTTP: a 101, or a 2xx to CONNECT.
    case upgrade
}
