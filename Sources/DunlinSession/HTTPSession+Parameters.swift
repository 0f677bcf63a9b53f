/// The verbs with parameters, which the session's serializer, or the given one, puts into the URL or the body.
///
/// ```swift
/// try await client.get("search", parameters: ["q": "waders", "page": 2], as: Results.self)
/// try await client.post("users", parameters: .encoding(draft), using: .json, as: User.self)
/// try await client.delete("items", parameters: ["id": 3], in: .body, as: .bytes)
/// ```
///
/// Without parameters, a body still has its content type if the serializer's format can be empty.
extension HTTPSession {
    /// Sends a request with parameters. Returns a value made from the response.
    public func request<S: ResponseSerializer>(
        _ target: HTTP.Target, method: HTTP.Method = .get, parameters: HTTP.Parameters?,
        in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) async throws -> Response<S.Output> {
        let parts = try parts(of: parameters, method, target, location, serializer)
        return try await request(
            target, method: method, query: parts.query, body: parts.body, options: options.with(fields, timeout),
            as: response)
    }

    /// Creates a request with parameters. It begins when it is resumed or awaited.
    public func task<S: ResponseSerializer>(
        _ target: HTTP.Target, method: HTTP.Method = .get, parameters: HTTP.Parameters?,
        in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) throws -> RequestTask<S.Output> where S.Output: Sendable {
        let parts = try parts(of: parameters, method, target, location, serializer)
        return try task(
            target, method: method, query: parts.query, body: parts.body, options: options.with(fields, timeout),
            as: response)
    }

    /// Sends a request with parameters and streams the response, like `withResponse` with a query and a body.
    public func withResponse<Value>(
        from target: HTTP.Target, method: HTTP.Method = .get, parameters: HTTP.Parameters?,
        in location: RequestSerializer.Location = .automatic, using serializer: RequestSerializer? = nil,
        fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(),
        _ operation: (StreamedResponse) async throws -> Value
    ) async throws -> Value {
        let parts = try parts(of: parameters, method, target, location, serializer)
        return try await withResponse(
            from: target, method: method, query: parts.query, body: parts.body, options: options.with(fields, timeout),
            operation)
    }

    private func parts(
        of parameters: HTTP.Parameters?, _ method: HTTP.Method, _ target: HTTP.Target,
        _ location: RequestSerializer.Location,
        _ serializer: RequestSerializer?
    ) throws -> RequestSerializer.Parts {
        let context = RequestSerializer.Context(method: method, target: target)
        return try (serializer ?? core.configuration.requestSerializer).parts(parameters, for: context, in: location)
    }
}

// MARK: - Verbs

extension HTTPSession {
    public func get<S: ResponseSerializer>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .get, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: response)
    }

    public func get<Value: Decodable>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .get, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: .json(type)
        ).value
    }

    /// Requests only the head: a response to HEAD has no body, whatever length it declares.
    public func head(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options()
    ) async throws -> Response<Bytes> {
        try await request(
            target, method: .head, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: .bytes)
    }

    public func post<S: ResponseSerializer>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .post, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: response)
    }

    public func post<Value: Decodable>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .post, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: .json(type)
        ).value
    }

    public func put<S: ResponseSerializer>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .put, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: response)
    }

    public func put<Value: Decodable>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .put, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: .json(type)
        ).value
    }

    public func patch<S: ResponseSerializer>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .patch, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: response)
    }

    public func patch<Value: Decodable>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .patch, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: .json(type)
        ).value
    }

    public func delete<S: ResponseSerializer>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as response: S
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .delete, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: response)
    }

    public func delete<Value: Decodable>(
        _ target: HTTP.Target, parameters: HTTP.Parameters?, in location: RequestSerializer.Location = .automatic,
        using serializer: RequestSerializer? = nil, fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .delete, parameters: parameters, in: location, using: serializer,
            options: options.with(fields, timeout), as: .json(type)
        ).value
    }
}
