public import FoundationEssentials

/// The body decoded from JSON.
///
/// Expects `application/json`, `text/json`, `text/javascript` or any `+json` type; a response that declares no type is
/// taken at its word.
public struct JSONSerializer<Output: Decodable>: ResponseSerializer {
    /// Makes the decoder; called once a response, so that nothing is shared between requests.
    private let makeDecoder: @Sendable () -> JSONDecoder

    public init(_ type: Output.Type = Output.self, decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }) {
        makeDecoder = decoder
    }

    public var acceptableContentTypes: [String] { ["application/json", "text/json", "text/javascript"] }

    public var accept: String? { "application/json" }

    public func accepts(contentType: String) -> Bool {
        acceptableContentTypes.contains(contentType) || contentType.hasSuffix("+json")
    }

    public func serialize(_ response: HTTPSession.Response<Bytes>) throws -> Output {
        try makeDecoder().decode(Output.self, from: Data(response.body))
    }
}

extension ResponseSerializer {
    public static func json<Value: Decodable>(_ type: Value.Type) -> Self where Self == JSONSerializer<Value> {
        JSONSerializer(type)
    }
}
