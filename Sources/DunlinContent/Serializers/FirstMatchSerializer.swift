/// A serializer that uses the first of several serializers that can make a value.
///
/// Each is asked in turn whether it accepts the content's type; if it does but fails, the next is tried. An empty body
/// goes to the first that has a value for it. If none succeeds, the error is this serializer's own and lists each
/// failure. Only this serializer checks the status; the others' rules for it are ignored.
public struct FirstMatchSerializer<Output>: AdjustableSerializer {
    public var rules: HTTP.ResponseRules
    private let serializers: [any ResponseSerializer<Output>]

    public init(_ serializers: [any ResponseSerializer<Output>], rules: HTTP.ResponseRules = .success) {
        self.serializers = serializers
        self.rules = rules
    }

    /// The `Accept` field with the types of all the serializers; nil if none has one.
    public var accept: String? {
        let wanted = serializers.compactMap(\.accept)
        return wanted.isEmpty ? nil : wanted.joined(separator: ", ")
    }

    public func serialize(_ response: HTTP.WholeResponse) throws -> Output {
        var refusals: [String] = []
        for serializer in serializers {
            do {
                var rules = serializer.rules
                rules.statuses = nil
                try rules.check(response)
                return try serializer.serialize(response)
            } catch {
                refusals.append((error as? NetworkError)?.reason ?? "\(error)")
            }
        }
        let reason = "no serializer could decode the content: " + refusals.joined(separator: "; ")
        throw NetworkError(.unacceptableContentType, reason, refusing: response)
    }
}

extension ResponseSerializer {
    /// Uses the first of several serializers that can make a value:
    /// `.first(of: .json(Reply.self), .string.map(Reply.init))`.
    public static func first<Value>(
        of serializers: any ResponseSerializer<Value>...
    ) -> Self where Self == FirstMatchSerializer<Value> {
        FirstMatchSerializer(serializers)
    }
}
