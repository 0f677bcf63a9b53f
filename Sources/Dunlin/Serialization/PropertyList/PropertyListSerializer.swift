public import FoundationEssentials

/// The body decoded from a property list, in XML or binary form; which one it is shows in its first bytes.
///
/// Expects `application/x-plist`; a response that declares no type is taken at its word. An empty body is no content:
/// nil for an optional.
public struct PropertyListSerializer<Output: Decodable>: AdjustableSerializer {
    public var rules: HTTPSession.ResponseRules
    /// Makes the decoder; called once a response, so that nothing is shared between requests.
    private let makeDecoder: @Sendable () -> PropertyListDecoder

    public init(
        _ type: Output.Type = Output.self, rules: HTTPSession.ResponseRules = .propertyList,
        decoder: @escaping @Sendable () -> PropertyListDecoder = { PropertyListDecoder() }
    ) {
        self.rules = rules
        makeDecoder = decoder
    }

    public var accept: String? { "application/x-plist" }

    public func serialize(_ response: HTTPSession.Response<Bytes>) throws -> Output {
        if response.body.isEmpty { return try noContent(response) }
        do throws(PropertyListShape.Refusal) {
            _ = try PropertyListShape.check(response.body)
        } catch {
            throw NetworkError(.unreadableContent, "not a property list: \(error.reason)", refusing: response)
        }
        do {
            return try makeDecoder().decode(Output.self, from: Data(response.body))
        } catch let error as DecodingError {
            throw error
        } catch {
            // Of a list that is damaged inside, Foundation throws errors that nobody else can name.
            let reason = "the property list cannot be read"
            throw NetworkError(.unreadableContent, reason, refusing: response, underlying: error)
        }
    }
}

extension ResponseSerializer {
    public static func propertyList<Value: Decodable>(
        _ type: Value.Type
    ) -> Self where Self == PropertyListSerializer<Value> {
        PropertyListSerializer(type)
    }
}

extension HTTPSession.ResponseRules {
    /// A property list with a status of 2xx.
    public static let propertyList = Self(contentTypes: ["application/x-plist"])
}
