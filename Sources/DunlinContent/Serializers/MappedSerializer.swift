/// A serializer that transforms the value of another.
struct MappedSerializer<Base: ResponseSerializer, Output>: ResponseSerializer {
    private let base: Base
    private let transform: @Sendable (Base.Output) throws -> Output

    init(_ base: Base, _ transform: @escaping @Sendable (Base.Output) throws -> Output) {
        self.base = base
        self.transform = transform
    }

    var rules: HTTP.ResponseRules { base.rules }
    var accept: String? { base.accept }

    func validate(_ response: HTTP.WholeResponse) throws {
        try base.validate(response)
    }

    func serialize(_ response: HTTP.WholeResponse) throws -> Output {
        try transform(base.serialize(response))
    }
}

extension ResponseSerializer {
    /// Returns a serializer that transforms this one's value: `.json(Page.self).map(\.items)`.
    public func map<Other>(
        _ transform: @escaping @Sendable (Output) throws -> Other
    ) -> some ResponseSerializer<Other> {
        MappedSerializer(self, transform)
    }
}
