/// A serializer that returns the body unchanged, whatever its type.
public struct BytesSerializer: AdjustableSerializer, Hashable {
    /// The rules; nil for the usual ones, so that most requests do not pay for others.
    @usableFromInline var own: HTTP.ResponseRules?

    @inlinable public init() {
        own = nil
    }

    public var rules: HTTP.ResponseRules {
        get { own ?? .success }
        set { own = newValue }
    }

    public static func == (left: Self, right: Self) -> Bool { left.rules == right.rules }

    public func hash(into hasher: inout Hasher) { hasher.combine(rules) }

    @inlinable public func validate(_ response: HTTP.WholeResponse) throws {
        if own == nil, response.status.isSuccess { return }
        try rules.check(response)
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
        let rules = try container.decode(HTTP.ResponseRules.self, forKey: .rules)
        own = rules == .success ? nil : rules
    }
}

extension ResponseSerializer where Self == BytesSerializer {
    @inlinable public static var bytes: BytesSerializer { BytesSerializer() }
}
