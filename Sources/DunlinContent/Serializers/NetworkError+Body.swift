extension NetworkError {
    /// What the response that was refused says, as this serializer reads it; its rules are not asked.
    ///
    /// ```swift
    /// } catch let error as NetworkError where error.code == .unacceptableStatus {
    ///     let problem = try error.body(as: .json(Problem.self))
    /// }
    /// ```
    ///
    /// Throws what the serializer throws, and this error if it came without a response. An error carries a bounded part
    /// of a body: of a longer one, at most its beginning can be read.
    public func body<S: ResponseSerializer>(as serializer: S) throws -> S.Output {
        guard let response else { throw self }
        return try serializer.serialize(HTTP.WholeResponse(head: response, body: body ?? .empty))
    }

    /// What the response that was refused says, decoded from JSON.
    public func body<Value: Decodable>(as type: Value.Type) throws -> Value {
        try body(as: .json(type))
    }
}
