extension NetworkError {
    /// The body of the response that was refused, as a value of this serializer; its rules are not checked.
    ///
    /// ```swift
    /// } catch let error as NetworkError where error.code == .unacceptableStatus {
    ///     let problem = try error.body(as: .json(Problem.self))
    /// }
    /// ```
    ///
    /// Throws what the serializer throws, and this error if it came without a response. An error carries a body up to a
    /// limit: of a longer one only the beginning can be read.
    public func body<S: ResponseSerializer>(as serializer: S) throws -> S.Output {
        guard let response else { throw self }
        return try serializer.serialize(HTTP.WholeResponse(head: response, body: body ?? .empty))
    }

    /// The body of the response that was refused, decoded from JSON the standard way; for another one say which:
    /// `body(as: .json(Problem.self, .snakeCase))`.
    public func body<Value: Decodable>(as type: Value.Type) throws -> Value {
        try body(as: .json(type))
    }
}
