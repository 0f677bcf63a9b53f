/// An empty value, for a response that has no content or whose content does not matter.
public struct NoContent: Sendable, Hashable, Codable {
    public init() {}

    /// Accepts any content.
    public init(from decoder: any Decoder) {}
}

extension NoContent {
    /// A type that has a value for a response without content: an empty body, as with 204, 205 and HEAD.
    ///
    /// For optionals it is nil; `NoContent` is such a type too. A serializer for any other type throws a `NetworkError`
    /// with code `noContent`.
    public protocol Representable {
        static var emptyValue: Self { get }
    }
}

extension NoContent: NoContent.Representable {
    public static var emptyValue: NoContent { NoContent() }
}

extension Optional: NoContent.Representable {
    public static var emptyValue: Wrapped? { nil }
}

extension ResponseSerializer {
    /// Returns the value for a response without content; throws if there is none.
    func noContent(_ response: HTTP.WholeResponse) throws -> Output {
        if let type = Output.self as? any NoContent.Representable.Type, let value = type.emptyValue as? Output {
            return value
        }
        let reason = "the response has no content to decode a \(Output.self) from; use an optional if it may be empty"
        throw NetworkError(.noContent, reason, refusing: response)
    }
}

/// A serializer without a value: only whether the server accepted the request matters.
public struct VoidSerializer: AdjustableSerializer, Hashable, Codable {
    public var rules: HTTP.ResponseRules

    public init(rules: HTTP.ResponseRules = .success) {
        self.rules = rules
    }

    public func serialize(_ response: HTTP.WholeResponse) {}
}

extension ResponseSerializer where Self == VoidSerializer {
    public static var void: VoidSerializer { VoidSerializer() }
}
