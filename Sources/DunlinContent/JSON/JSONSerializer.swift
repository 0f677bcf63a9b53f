public import FoundationEssentials

/// A serializer that decodes the body from JSON.
///
/// It expects `application/json`, `text/json`, `text/javascript` or a type that ends in `+json` (RFC 6839), such as
/// `application/problem+json`. A response without a declared type is accepted, unless the rules say otherwise. Other
/// types are accepted on request: `.json(Item.self).accepting("text/plain")`.
///
/// An empty body, or a single space (which some servers send instead), counts as no content: nil for an optional.
public struct JSONSerializer<Output: Decodable>: AdjustableSerializer {
    public var rules: HTTP.ResponseRules
    /// Whether a duplicate key in an object is refused. The text is read strictly by RFC 8259 in any case.
    public var isStrict = false
    /// Whether a declared charset other than UTF-8, 16 or 32 is honoured, contrary to RFC 8259.
    public var honorsCharset = false
    /// How the text is read; nil for the session's way.
    public var json: HTTP.JSON?
    /// Configures a Foundation decoder to use instead; nil if none is used.
    private var prepare: (@Sendable (JSONDecoder) -> Void)?

    public init(_ type: Output.Type = Output.self, _ json: HTTP.JSON? = nil, rules: HTTP.ResponseRules = .anyJSON) {
        self.rules = rules
        self.json = json
    }

    public var accept: String? { "application/json" }

    public func validate(_ response: HTTP.WholeResponse) throws {
        do {
            try rules.check(response)
        } catch var error as NetworkError where error.code == .unacceptableContentType && Self.plain != nil {
            error.reason += " (\(Self.hint))"
            throw error
        }
    }

    public func serialize(_ response: HTTP.WholeResponse) throws -> Output {
        if response.body.isNoJSON { return try noContent(response) }
        let body = honorsCharset ? try response.transcoded() : response.body
        var json = response.settings?.json(insteadOf: json) ?? json ?? .standard
        if isStrict { json.repeatedKeys = .refused }
        if let prepare { json.decoder = Self.maker(json.decoder, prepare) }
        do {
            return try json.decode(Output.self, from: body)
        } catch DecodingError.dataCorrupted(let context) where Self.plain != nil {
            throw DecodingError.dataCorrupted(Self.hinting(context))
        } catch DecodingError.typeMismatch(let type, let context) where Self.plain != nil {
            throw DecodingError.typeMismatch(type, Self.hinting(context))
        }
    }

    /// The serializer that returns the body unchanged, if that may be what the caller meant.
    private static var plain: String? {
        if Output.self == String.self { return ".string" }
        return Output.self == Data.self ? ".bytes" : nil
    }

    private static var hint: String {
        "`as: \(Output.self).self` reads JSON; for the body as it is, write `as: \(plain ?? ".bytes")`"
    }

    private static func hinting(_ context: DecodingError.Context) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: context.codingPath, debugDescription: "\(context.debugDescription) (\(hint))",
            underlyingError: context.underlyingError)
    }

    private static func maker(
        _ make: (@Sendable () -> JSONDecoder)?, _ prepare: @escaping @Sendable (JSONDecoder) -> Void
    ) -> @Sendable () -> JSONDecoder {
        {
            let decoder = make?() ?? JSONDecoder()
            prepare(decoder)
            return decoder
        }
    }
}

extension JSONSerializer {
    /// Returns a copy that uses a Foundation decoder: `.json(Event.self).decoding { $0.allowsJSON5 = true }`.
    public func decoding(_ prepare: @escaping @Sendable (JSONDecoder) -> Void) -> JSONSerializer {
        var copy = self
        copy.prepare = { [before = self.prepare] decoder in
            before?(decoder)
            prepare(decoder)
        }
        return copy
    }

    /// A copy that refuses duplicate keys.
    public var strict: JSONSerializer {
        var copy = self
        copy.isStrict = true
        return copy
    }
}

/// Encodes the settings. The program determines the output: text that is decoded as `JSONSerializer<User>` makes a
/// serializer for users.
extension JSONSerializer: Codable {
    private enum Keys: CodingKey {
        case rules, isStrict, honorsCharset
    }

    /// Throws if the serializer has JSON settings of its own, which may contain code.
    public func encode(to encoder: any Encoder) throws {
        if json != nil || prepare != nil { throw EncodingError.uncodableDecoder(of: self, encoder) }
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
    /// The error for a serializer that decodes by code and not by settings.
    static func uncodableDecoder(of serializer: any ResponseSerializer, _ encoder: any Encoder) -> EncodingError {
        .invalidValue(
            serializer,
            .init(
                codingPath: encoder.codingPath,
                debugDescription: "a serializer that decodes by a closure cannot be encoded"))
    }
}

extension ResponseSerializer {
    /// Decodes a value from JSON, in the session's way, `.json(User.self)`, or in another,
    /// `.json(User.self, .snakeCase)`.
    public static func json<Value: Decodable>(
        _ type: Value.Type, _ json: HTTP.JSON? = nil
    ) -> Self where Self == JSONSerializer<Value> {
        JSONSerializer(type, json)
    }
}

extension HTTP.ResponseRules {
    /// Accepts JSON with status 2xx and one of AFNetworking's three types.
    public static let json = Self(contentTypes: ["application/json", "text/json", "text/javascript"])
    /// Accepts JSON with status 2xx and one of AFNetworking's three types, or any type whose suffix says JSON (RFC
    /// 6839).
    public static let anyJSON = Self(contentTypes: ["application/json", "text/json", "text/javascript", "+json"])
}

extension Bytes {
    /// Whether the body is empty or a single space, which Rails sends instead.
    var isNoJSON: Bool { isEmpty || count == 1 && self[0] == UInt8(ascii: " ") }
}

extension HTTP.WholeResponse {
    /// The body in UTF-8, if it declares a charset in which JSON is never written.
    func transcoded() throws -> Bytes {
        guard let charset = declaredCharset, !charset.name.hasPrefix("utf") else { return body }
        return Bytes(try text(in: charset))
    }
}
