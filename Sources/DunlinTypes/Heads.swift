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
    public var fields: Fields {
        didSet { reasonRange = nil }
    }
    /// Where the reason phrase lies in the fields' bytes.
    private var reasonRange: Range<UInt32>?

    public init(version: HTTPVersion = .http11, status: Status, fields: Fields = Fields()) {
        self.version = version
        self.status = status
        self.fields = fields
    }

    /// A parsed head: `reason` lies in the bytes that the fields point into.
    public init(version: HTTPVersion, status: Status, fields: Fields, reason: Range<Int>) {
        self.version = version
        self.status = status
        self.fields = fields
        reasonRange = UInt32(truncatingIfNeeded: reason.lowerBound)..<UInt32(truncatingIfNeeded: reason.upperBound)
    }

    /// The reason phrase as received, empty if there was none; nobody should act on it.
    public var reason: Bytes {
        guard let reasonRange else { return .empty }
        return Bytes(fields.bytes, in: Int(reasonRange.lowerBound)..<Int(reasonRange.upperBound))
    }
}

/// The versions whose framing Dunlin speaks.
public enum HTTPVersion: Sendable, Hashable {
    case http10
    case http11
}
