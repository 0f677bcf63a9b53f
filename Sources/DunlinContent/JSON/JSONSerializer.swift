public import FoundationEssentials

/// The body decoded from JSON.
///
/// It expects `application/json`, `text/json`, `text/javascript` or a type that ends in `+json` (RFC 6839), such as
/// `application/problem+json`. A response without a declared type is accepted, unless the rules say otherwise. Other
/// types are accepted when asked for: `.json(Item.self).accepting("text/plain")`.
///
/// An empty body, or a single space (which some servers send instead), is no content: nil for an optional.
public struct JSONSerializer<Output: Decodable>: AdjustableSerializer {
    public var rules: HTTP.ResponseRules
    /// Whether text is refused that Foundation accepts though RFC 8259 does not, such as a comma before a closing
    /// bracket, and a key that comes twice in one object. Reads the body twice for that.
    public var isStrict = false
    /// Whether text in another charset than UTF-8, 16 or 32 is read if the response declares it, against RFC 8259.
    public var honorsCharset = false
    /// Makes a decoder of the user's own; called once a response, so that nothing is shared between requests.
    private let makeDecoder: (@Sendable () -> JSONDecoder)?

    public init(
        _ type: Output.Type = Output.self, rules: HTTP.ResponseRules = .anyJSON,
        decoder: (@Sendable () -> JSONDecoder)? = nil
    ) {
        self.rules = rules
        makeDecoder = decoder
    }

    public var accept: String? { "application/json" }

    public func serialize(_ response: HTTP.WholeResponse) throws -> Output {
        if response.body.isNoJSON { return try noContent(response) }
        let body = honorsCharset ? try response.transcoded() : response.body
        if isStrict { _ = try body.strictJSON() }
        return try (makeDecoder?() ?? JSONDecoder()).decode(Output.self, from: Data(body))
    }
}

extension JSONSerializer {
    /// This serializer with a decoder of your own: `.json(Event.self).decoding { $0.dateDecodingStrategy = .iso8601 }`.
    public func decoding(_ prepare: @escaping @Sendable (JSONDecoder) -> Void) -> JSONSerializer {
        let makeDecoder = makeDecoder
        var copy = JSONSerializer(Output.self, rules: rules) {
            let decoder = makeDecoder?() ?? JSONDecoder()
            prepare(decoder)
            return decoder
        }
        copy.isStrict = isStrict
        copy.honorsCharset = honorsCharset
        return copy
    }
}

extension JSONSerializer {
    /// This serializer, strict.
    public var strict: JSONSerializer {
        var copy = self
        copy.isStrict = true
        return copy
    }
}

/// What is made is for the program to say: a text that is read as `JSONSerializer<User>` makes users.
extension JSONSerializer: Codable {
    private enum Keys: CodingKey {
        case rules, isStrict, honorsCharset
    }

    /// Throws for a serializer with a decoder of the user's own, which is code.
    public func encode(to encoder: any Encoder) throws {
        if makeDecoder != nil { throw EncodingError.uncodableDecoder(of: self, encoder) }
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(rules, forKey: .rules)
        try container.encode(isStrict, forKey: .isStrict)
        try container.encode(honorsCharset, forKey: .honorsCharset)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.init(rules: try container.decode(HTTP.ResponseRules.self, forKey: .rules))
        isStrict = try container.decode(Bool.self, forKey: .isStrict)
        honorsCharset = try container.decode(Bool.self, forKey: .honorsCharset)
    }
}

extension EncodingError {
    /// A serializer that decodes by code, not by settings.
    static func uncodableDecoder(of serializer: any ResponseSerializer, _ encoder: any Encoder) -> EncodingError {
        .invalidValue(
            serializer, .init(codingPath: encoder.codingPath, debugDescription: "a closure cannot be encoded"))
    }
}

extension ResponseSerializer {
    public static func json<Value: Decodable>(_ type: Value.Type) -> Self where Self == JSONSerializer<Value> {
        JSONSerializer(type)
    }
}

extension HTTP.ResponseRules {
    /// JSON with a status of 2xx, by AFNetworking's three types.
    public static let json = Self(contentTypes: ["application/json", "text/json", "text/javascript"])
    /// JSON with a status of 2xx, by AFNetworking's three types and every type whose suffix says that it is JSON (RFC
    /// 6839).
    public static let anyJSON = Self(contentTypes: ["application/json", "text/json", "text/javascript", "+json"])
}

extension Bytes {
    /// Nothing, or what Rails sends for it.
    var isNoJSON: Bool { isEmpty || count == 1 && self[0] == UInt8(ascii: " ") }
}

extension HTTP.WholeResponse {
    /// The body in UTF-8, if it declares to be in a charset that JSON is never in.
    func transcoded() throws -> Bytes {
        guard let charset = declaredCharset, !charset.name.hasPrefix("utf") else { return body }
        return Bytes(try text(in: charset))
    }
}
