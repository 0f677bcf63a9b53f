/// The verbs: one line from a target to a value.
///
/// `as:` takes a serializer and gives the whole `Response`, or a `Decodable` type and gives the value alone.
extension HTTPSession {
    @inlinable public func get<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), options: Options = Options(), as serializer: S
    ) async throws -> Response<S.Output> {
        try await request(.get, target, query: query, options: options, as: serializer)
    }

    @inlinable public func get<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(.get, target, query: query, options: options, as: .json(type)).value
    }

    /// Asks for the head only: a response to HEAD has no body, whatever length it announces.
    @inlinable public func head(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), options: Options = Options()
    ) async throws -> Response<Bytes> {
        try await request(.head, target, query: query, options: options, as: .bytes)
    }

    @inlinable public func post<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as serializer: S
    ) async throws -> Response<S.Output> {
        try await request(.post, target, query: query, body: body, options: options, as: serializer)
    }

    @inlinable public func post<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(.post, target, query: query, body: body, options: options, as: .json(type)).value
    }

    @inlinable public func put<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as serializer: S
    ) async throws -> Response<S.Output> {
        try await request(.put, target, query: query, body: body, options: options, as: serializer)
    }

    @inlinable public func put<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(.put, target, query: query, body: body, options: options, as: .json(type)).value
    }

    @inlinable public func patch<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as serializer: S
    ) async throws -> Response<S.Output> {
        try await request(.patch, target, query: query, body: body, options: options, as: serializer)
    }

    @inlinable public func patch<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(.patch, target, query: query, body: body, options: options, as: .json(type)).value
    }

    @inlinable public func delete<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as serializer: S
    ) async throws -> Response<S.Output> {
        try await request(.delete, target, query: query, body: body, options: options, as: serializer)
    }

    @inlinable public func delete<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), body: RequestBody = .none,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(.delete, target, query: query, body: body, options: options, as: .json(type)).value
    }
}
