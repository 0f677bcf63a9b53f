extension NetworkError {
    /// Returns the refused response's body as a value of `serializer`, whose rules are not checked.
    ///
    /// ```swift
    /// } catch let error as NetworkError where error.code == .unacceptableStatus {
    ///     let problem = try error.body(as: .json(Problem.self))
    /// }
    /// ```
    ///
    /// Throws the serializer's error, or this error if it has no response. An error carries only the beginning of a
    /// long body.
    public func body<S: ResponseSerializer>(as serializer: S) throws -> S.Output {
        guard let response else { throw self }
        return try serializer.serialize(HTTP.WholeResponse(head: response, body: body ?? .empty))
    }

    /// Returns the refused response's body, decoded from JSON in the standard way. For another way, write
    /// `body(as: .json(Problem.self, .snakeCase))`.
    public func body<Value: Decodable>(as type: Value.Type) throws -> Value {
        try body(as: .json(type))
    }
}
