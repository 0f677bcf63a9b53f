/// The body as it is, whatever its type.
public struct BytesSerializer: ResponseSerializer, Hashable {
    /// Nil for the usual rules, so that most requests do not pay for others.
    @usableFromInline var own: HTTP.ResponseRules?

    @inlinable public init() {
        own = nil
    }

    public init(rules: HTTP.ResponseRules) {
        own = rules == .success ? nil : rules
    }

    public var rules: HTTP.ResponseRules {
        get { own ?? .success }
        set { own = newValue }
    }

    public static func == (left: Self, right: Self) -> Bool { left.rules == right.rules }

    public func hash(into hasher: inout Hasher) { hasher.combine(rules) }

    @inlinable public func validate(_ response: HTTP.WholeResponse) throws {
        if own == nil, response.status.isSuccess { return }
        try validate(response, by: rules)
    }

    @inlinable public func serialize(_ response: HTTP.WholeResponse) -> Bytes {
        response.body
    }
}

extension BytesSerializer: Codable {
    private enum Keys: CodingKey {
        case rules
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(rules, forKey: .rules)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.init(rules: try container.decode(HTTP.ResponseRules.self, forKey: .rules))
    }
}

extension ResponseSerializer where Self == BytesSerializer {
    @inlinable public static var bytes: BytesSerializer { BytesSerializer() }
}
