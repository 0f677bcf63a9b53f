public import FoundationEssentials

/// The verbs for a target of type `URL`, and for text that is a URL, with the label `url:`.
///
/// None takes an unlabelled `String`: in `"users/\(name)"`, the name would become part of the path unescaped.
// A generic target cannot replace them: a literal would become a `String` or be ambiguous, and one function has one
// label.
extension HTTPSession {
    @discardableResult
    @inlinable public func get<S: ResponseSerializer>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await get(
            .url(url), query: query, fields: fields, timeout: timeout, progress: progress, options: options,
            as: serializer)
    }

    @inlinable public func get<Value: Decodable>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await get(
            .url(url), query: query, fields: fields, timeout: timeout, progress: progress, options: options, as: type)
    }

    @inlinable public func head(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options()
    ) async throws -> Response<Bytes> {
        try await head(
            .url(url), query: query, fields: fields, timeout: timeout, options: options)
    }

    @discardableResult
    @inlinable public func post<S: ResponseSerializer>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await post(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: serializer)
    }

    @inlinable public func post<Value: Decodable>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await post(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: type)
    }

    @discardableResult
    @inlinable public func put<S: ResponseSerializer>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await put(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: serializer)
    }

    @inlinable public func put<Value: Decodable>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await put(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: type)
    }

    @discardableResult
    @inlinable public func patch<S: ResponseSerializer>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await patch(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: serializer)
    }

    @inlinable public func patch<Value: Decodable>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await patch(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: type)
    }

    @discardableResult
    @inlinable public func delete<S: ResponseSerializer>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await delete(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, options: options,
            as: serializer)
    }

    @inlinable public func delete<Value: Decodable>(
        _ url: URL, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await delete(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, options: options,
            as: type)
    }
}

// MARK: - Text

extension HTTPSession {
    @discardableResult
    @inlinable public func get<S: ResponseSerializer>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await get(
            .url(url), query: query, fields: fields, timeout: timeout, progress: progress, options: options,
            as: serializer)
    }

    @inlinable public func get<Value: Decodable>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await get(
            .url(url), query: query, fields: fields, timeout: timeout, progress: progress, options: options, as: type)
    }

    @inlinable public func head(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        timeout: Duration? = nil, options: Options = Options()
    ) async throws -> Response<Bytes> {
        try await head(
            .url(url), query: query, fields: fields, timeout: timeout, options: options)
    }

    @discardableResult
    @inlinable public func post<S: ResponseSerializer>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await post(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: serializer)
    }

    @inlinable public func post<Value: Decodable>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await post(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: type)
    }

    @discardableResult
    @inlinable public func put<S: ResponseSerializer>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await put(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: serializer)
    }

    @inlinable public func put<Value: Decodable>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await put(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: type)
    }

    @discardableResult
    @inlinable public func patch<S: ResponseSerializer>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await patch(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: serializer)
    }

    @inlinable public func patch<Value: Decodable>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await patch(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, progress: progress,
            options: options, as: type)
    }

    @discardableResult
    @inlinable public func delete<S: ResponseSerializer>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        options: Options = Options(),
        as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        try await delete(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, options: options,
            as: serializer)
    }

    @inlinable public func delete<Value: Decodable>(
        url: String, query: HTTP.Query = HTTP.Query(), fields: Fields = Fields(),
        body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        options: Options = Options(),
        as type: Value.Type
    ) async throws -> Value {
        try await delete(
            .url(url), query: query, fields: fields, body: body, json: json, timeout: timeout, options: options,
            as: type)
    }
}
