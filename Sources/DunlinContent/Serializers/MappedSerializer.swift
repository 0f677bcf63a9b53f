/// Transforms the value of another serializer.
public struct MappedSerializer<Base: ResponseSerializer, Output>: ResponseSerializer {
    private let base: Base
    private let transform: @Sendable (Base.Output) throws -> Output

    init(_ base: Base, _ transform: @escaping @Sendable (Base.Output) throws -> Output) {
        self.base = base
        self.transform = transform
    }

    public var rules: HTTP.ResponseRules { base.rules }
    public var accept: String? { base.accept }

    public func validate(_ response: HTTP.WholeResponse) throws {
        try base.validate(response)
    }

    public func serialize(_ response: HTTP.WholeResponse) throws -> Output {
        try transform(base.serialize(response))
    }
}

extension ResponseSerializer {
    /// This serializer, with its value transformed: `.json(Page.self).map(\.items)`.
    public func map<Other>(
        _ transform: @escaping @Sendable (Output) throws -> Other
    ) -> MappedSerializer<Self, Other> {
        MappedSerializer(self, transform)
    }
}
