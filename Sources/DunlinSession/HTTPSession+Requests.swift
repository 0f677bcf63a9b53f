internal import DunlinReactor
internal import DunlinTransport

/// The way of a call from its arguments to a response with its whole body.
extension HTTPSession {
    /// Sends a request. Returns a value made from the response.
    @discardableResult
    @inlinable public func request<S: ResponseSerializer>(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(), as serializer: S = BytesSerializer()
    ) async throws -> Response<S.Output> {
        let options =
            method.isSafe
            ? options.with(fields, timeout, download: progress) : options.with(fields, timeout, upload: progress)
        let body = try self.body(body, json)
        if isObserved(options) {
            return try await observedRequest(
                method, target, query: query, body: body, options: options, as: serializer)
        }
        // Read now; otherwise the options would be retained, and copied for that, while the response is awaited.
        let serializing = Serializing(
            validates: options.validatesResponse, errors: errorRules(options), body: body)
        let response: Response<Bytes>
        do {
            response = try await fetch(
                method, target, query: query, body: body, options: options, accept: serializer.accept)
        } catch {
            throw serializing.failure(error, by: serializer, with: contentSettings)
        }
        return try await serializing.value(of: response, by: serializer, with: contentSettings, isOnLoop: isOnLoop)
    }

    /// Sends a request. Returns the value decoded from the response's JSON.
    @inlinable public func request<Value: Decodable>(
        _ target: HTTP.Target, method: HTTP.Method = .get, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody = .none, json: (any Encodable)? = nil, timeout: Duration? = nil,
        progress: ProgressHandler? = nil, options: Options = Options(), as type: Value.Type
    ) async throws -> Value {
        try await request(
            target, method: method, query: query, fields: fields, body: body, json: json, timeout: timeout,
            progress: progress, options: options, as: .json(type)
        ).value
    }

    /// Sends a request. Returns the response with its whole body as received.
    @usableFromInline func fetch(
        _ method: HTTP.Method, _ target: HTTP.Target, query: HTTP.Query, body: RequestBody, options: Options,
        accept: String?
    ) async throws -> Response<Bytes> {
        let call = try core.call(
            method, target, query: query, body: body, options: options, accept: accept, isObserved: false)
        return try await TaskDelegate(call).run(call, into: WholeSink())
    }

    /// Sends an observed request. The value is made before the request is over, because observers are told of it.
    @usableFromInline func observedRequest<S: ResponseSerializer>(
        _ method: HTTP.Method, _ target: HTTP.Target, query: HTTP.Query, body: RequestBody, options: Options,
        as serializer: S
    ) async throws -> Response<S.Output> {
        let call = try core.call(
            method, target, query: query, body: body, options: options, accept: serializer.accept, isObserved: true)
        let response = try await TaskDelegate(call).run(call, into: SerializedSink(erasing: serializer, call))
        return try response.with(value: SerializedSink<Any>.value(response.value, of: serializer))
    }

    /// Whether a request has observers other than its caller: hooks, observers of events, a queue.
    @usableFromInline func isObserved(_ options: Options) -> Bool { core.isObserved(options) }

    /// The rules for what errors show of a response's body.
    @usableFromInline func errorRules(_ options: Options) -> ErrorRules { core.errorRules(options) }

    /// The configuration's settings for reading content, if it has any.
    @usableFromInline var contentSettings: ContentSettings? { core.contentSettings }

    @usableFromInline var isOnLoop: Bool { core.isOnLoop }
}
