/// What a request says before its body.
public struct RequestHead: Sendable {
    public var method: Method
    /// Where the request goes: decides the connection and the Host field.
    public var origin: Origin
    /// The request target in origin form (`/path?query`), exactly as it will be written.
    public var target: String
    public var fields: Fields

    @inlinable public init(method: Method, origin: Origin, target: String, fields: Fields = Fields()) {
        self.method = method
        self.origin = origin
        self.target = target
        self.fields = fields
    }
}

/// What a response says before its body; an interim (1xx) response is one too.
public struct ResponseHead: Sendable {
    public var version: HTTPVersion
    public var status: Status
    /// The reason phrase as received; nobody should act on it.
    public var reason: Bytes
    public var fields: Fields

    @inlinable public init(version: HTTPVersion, status: Status, reason: Bytes = .empty, fields: Fields = Fields()) {
        self.version = version
        self.status = status
        self.reason = reason
        self.fields = fields
    }
}

/// The versions whose framing Dunlin speaks.
public enum HTTPVersion: Sendable, Hashable {
    case http10
    case http11
}
