/// The head of a request: everything before its body.
public struct RequestHead: Sendable {
    public var method: HTTP.Method
    /// The origin that the request goes to, which determines the connection and the Host field.
    public var origin: HTTP.Origin
    /// The request target in origin form (`/path?query`), exactly as it will be written.
    public var target: String
    @usableFromInline var content: Content

    @usableFromInline enum Content: Sendable {
        case fields(Fields)
        case prepared(PreparedFields)
    }

    @inlinable public init(method: HTTP.Method, origin: HTTP.Origin, target: String, fields: Fields = Fields()) {
        self.method = method
        self.origin = origin
        self.target = target
        content = .fields(fields)
    }

    @inlinable package init(method: HTTP.Method, origin: HTTP.Origin, target: String, prepared: PreparedFields) {
        self.method = method
        self.origin = origin
        self.target = target
        content = .prepared(prepared)
    }

    @inlinable public var fields: Fields {
        get {
            switch content {
            case .fields(let fields): fields
            case .prepared(let prepared): prepared.fields
            }
        }
        set { content = .fields(newValue) }
    }

    /// Whether sending the request twice has the same effect as sending it once, by its method or by a field that lets
    /// the server recognise a repetition.
    package var isRepeatable: Bool { method.isIdempotent || fields.contains("idempotency-key") }

    /// The fields, checked and encoded ahead; nil once they have been changed.
    @inlinable package var prepared: PreparedFields? {
        if case .prepared(let prepared) = content { prepared } else { nil }
    }
}

/// Fields that many requests share: checked once, and kept as the lines to send.
@usableFromInline package final class PreparedFields: Sendable {
    @usableFromInline package let fields: Fields
    package let lines: [UInt8]

    /// Creates prepared fields without checking the lines again. Only `RequestEncoder.prepare` calls this.
    package init(_ fields: Fields, lines: [UInt8]) {
        self.fields = fields
        self.lines = lines
    }
}

extension PreparedFields: CustomReflectable {
    /// An empty mirror: the lines repeat the fields with all their secrets.
    @usableFromInline package var customMirror: Mirror {
        Mirror(self, children: ["fields": fields], displayStyle: .class)
    }
}

/// The head of a response: everything before its body. An interim (1xx) response is one too.
public struct ResponseHead: Sendable {
    public var version: HTTP.Version
    public var status: HTTP.Status
    public var fields: Fields {
        didSet { reasonRange = nil }
    }
    /// The range of the reason phrase in the fields' bytes.
    private var reasonRange: Range<UInt32>?

    public init(version: HTTP.Version = .http11, status: HTTP.Status, fields: Fields = Fields()) {
        self.version = version
        self.status = status
        self.fields = fields
    }

    /// Creates a parsed head; `reason` lies in the bytes that the fields point into.
    package init(version: HTTP.Version, status: HTTP.Status, fields: Fields, reason: Range<Int>) {
        self.version = version
        self.status = status
        self.fields = fields
        reasonRange = UInt32(truncatingIfNeeded: reason.lowerBound)..<UInt32(truncatingIfNeeded: reason.upperBound)
    }

    /// Marks the fields with these names as sensitive.
    package mutating func mark(_ secret: HTTP.SecretFields) {
        if secret.more.isEmpty { return }
        // Marking does not change the bytes, so the range stays valid.
        let reasonRange = reasonRange
        fields.mark(secret)
        self.reasonRange = reasonRange
    }

    /// The reason phrase as received; empty if there was none. No decision should depend on it.
    public var reason: Bytes {
        guard let reasonRange else { return .empty }
        return Bytes(fields.bytes, in: Int(reasonRange.lowerBound)..<Int(reasonRange.upperBound))
    }
}

extension HTTP {
    /// The HTTP versions whose framing Dunlin implements.
    public enum Version: Sendable, Hashable {
        case http10
        case http11
    }
}
