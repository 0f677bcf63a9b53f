/// What can stand for a response without content: an empty body, as with 204, 205 and HEAD.
///
/// Optionals do, with nil, and `NoContent`. A serializer whose value can not throws `NetworkError` with code
/// `noContent`.
public protocol NoContentRepresentable {
    static func withoutContent() -> Self
}

/// Nothing, for a response that has no content or whose content does not matter.
public struct NoContent: Sendable, Hashable, Codable, NoContentRepresentable {
    public init() {}

    /// Takes whatever is there.
    public init(from decoder: any Decoder) {}

    public static func withoutContent() -> NoContent { NoContent() }
}

extension Optional: NoContentRepresentable {
    public static func withoutContent() -> Wrapped? { nil }
}

extension ResponseSerializer {
    /// What stands for a response without content; throws if nothing does.
    func noContent(_ response: HTTP.WholeResponse) throws -> Output {
        if let type = Output.self as? any NoContentRepresentable.Type, let value = type.withoutContent() as? Output {
            return value
        }
        let reason = "the response has no content to make a \(Output.self) of; ask for an optional if it may have none"
        throw NetworkError(.noContent, reason, refusing: response)
    }
}

/// No value at all: only whether the server accepted the request counts.
public struct NothingSerializer: AdjustableSerializer, Hashable, Codable {
    public var rules: HTTP.ResponseRules

    public init(rules: HTTP.ResponseRules = .success) {
        self.rules = rules
    }

    public func serialize(_ response: HTTP.WholeResponse) {}
}

extension ResponseSerializer where Self == NothingSerializer {
    public static var nothing: NothingSerializer { NothingSerializer() }
}
