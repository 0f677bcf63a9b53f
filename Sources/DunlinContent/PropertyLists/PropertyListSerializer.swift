public import FoundationEssentials

/// A serializer that decodes the body from a property list, in XML or binary form, as its first bytes show.
///
/// It expects `application/x-plist`, or no declared type. An empty body counts as no content: nil for an optional.
public struct PropertyListSerializer<Output: Decodable>: AdjustableSerializer {
    public var rules: HTTP.ResponseRules
    /// Makes a decoder of the user's own, once for each response, so that requests share nothing.
    private let makeDecoder: (@Sendable () -> PropertyListDecoder)?

    public init(
        _ type: Output.Type = Output.self, rules: HTTP.ResponseRules = .propertyList,
        decoder: (@Sendable () -> PropertyListDecoder)? = nil
    ) {
        self.rules = rules
        makeDecoder = decoder
    }

    public var accept: String? { "application/x-plist" }

    public func serialize(_ response: HTTP.WholeResponse) throws -> Output {
        if response.body.isEmpty { return try noContent(response) }
        let list: Bytes
        do throws(PropertyListShape.Refusal) {
            list = try PropertyListShape.checked(response.body)
        } catch {
            throw NetworkError(.unreadableContent, "not a property list: \(error.reason)", refusing: response)
        }
        do {
            return try (makeDecoder?() ?? PropertyListDecoder()).decode(Output.self, from: Data(list))
        } catch let error as DecodingError {
            throw error
        } catch {
            // Foundation's errors for a damaged list have no useful names.
            let reason = "the property list cannot be read"
            throw NetworkError(.unreadableContent, reason, refusing: response, underlying: error)
        }
    }
}

/// Encodes the settings. The program determines the output: text that is decoded as `PropertyListSerializer<User>`
/// makes a serializer for users. The form of a list is recognised and is not a setting.
extension PropertyListSerializer: Codable {
    private enum Keys: CodingKey {
        case rules
    }

    /// Throws for a serializer with a decoder of the user's own, which is code.
    public func encode(to encoder: any Encoder) throws {
        if makeDecoder != nil { throw EncodingError.uncodableDecoder(of: self, encoder) }
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(rules, forKey: .rules)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.init(rules: try container.decode(HTTP.ResponseRules.self, forKey: .rules))
    }
}

extension ResponseSerializer {
    public static func propertyList<Value: Decodable>(
        _ type: Value.Type
    ) -> Self where Self == PropertyListSerializer<Value> {
        PropertyListSerializer(type)
    }
}

extension HTTP.ResponseRules {
    /// Accepts a property list with status 2xx.
    public static let propertyList = Self(contentTypes: ["application/x-plist"])
}
