/// The verbs: one line from a target to a value.
///
/// ```swift
/// let user = try await client.get("users/42", as: User.self)
/// let made = try await client.post("users", json: draft, timeout: .seconds(5), as: User.self)
/// try await client.delete("users/42")
/// ```
///
/// `as:` takes a `Decodable` type and returns only the value, or a serializer and returns the whole `Response`; without
/// it, the response has its bytes. `query:` takes parameters with `HTTP.QueryValue`s. `fields:` are fields of this
/// request, which replace the session's and those of `options.fields` with the same names. `json:` is a body: the value
/// as JSON, written by the session's configuration. `timeout:` limits the whole request, including retries and
/// redirects. `progress:` is told the progress of the response's body for GET, and of the request's body for the
/// others: at once, whenever it has changed since it last returned, and at the end.
extension HTTPSession {
    @discardableResult
    @inlinable public func get<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .get, query: query, fields: fields, timeout: timeout, progress: progress, options: options,
            as: serializer)
    }

    @inlinable public func get<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .get, query: query, fields: fields, timeout: timeout, progress: progress, options: options,
            as: type)
    }

    /// Requests only the head: a response to HEAD has no body, whatever length it declares.
    @inlinable public func head(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options()
    ) async throws -> Response<Bytes> {
        try await request(
            target, method: .head, query: query, fields: fields, timeout: timeout, options: options, as: .bytes)
    }

    @discardableResult
    @inlinable public func post<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .post, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: serializer)
    }

    @inlinable public func post<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .post, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: type)
    }

    @discardableResult
    @inlinable public func put<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .put, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: serializer)
    }

    @inlinable public func put<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .put, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: type)
    }

    @discardableResult
    @inlinable public func patch<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .patch, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: serializer)
    }

    @inlinable public func patch<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .patch, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: type)
    }

    @discardableResult
    @inlinable public func delete<S: ResponseSerializer>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await request(
            target, method: .delete, query: query, fields: fields, body: body, json: json, timeout: timeout,
            options: options, as: serializer)
    }

    @inlinable public func delete<Value: Decodable>(
        _ target: HTTP.Target, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: .delete, query: query, fields: fields, body: body, json: json, timeout: timeout,
            options: options, as: type)
    }

    /// The body, from either argument.
    @inlinable package func body(_ body: RequestBody, _ json: (any Encodable)?) throws -> RequestBody {
        guard let json else { return body }
        return try encoded(json, insteadOf: body)
    }

    @usableFromInline package func encoded(_ json: any Encodable, insteadOf body: RequestBody) throws -> RequestBody {
        guard case .none = body.content else {
            throw NetworkError(.invalidRequest, "the request was given two bodies, `body` and `json`; give one")
        }
        return try .json(json, core.configuration.json)
    }
}
