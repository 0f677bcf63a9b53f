internal import DunlinReactor
internal import DunlinTransport

/// One call, whole: from what the caller said to a response with its body.
extension HTTPSession {
    /// Sends a request and makes a value of the response.
    @inlinable public func request<S: ResponseSerializer>(
        _ method: Method, _ target: Target, query: Query = Query(), body: RequestBody = .none,
        options: Options = Options(), as serializer: S
    ) async throws -> Response<S.Output> {
        if isWatched(options) {
            return try await watchedRequest(
                method, target, query: query, body: body, options: options, as: serializer)
        }
        // Read now, or the options would be kept, and copied for that, while the response is awaited.
        let (validates, kept) = (options.validatesResponse, errorBodyBytes(options))
        let response = try await fetch(
            method, target, query: query, body: body, options: options, accept: serializer.accept)
        do {
            if validates { try serializer.validate(response) }
            if response.value.count > Self.serializedAtOnce {
                return response.with(value: try await serialize(response, serializer))
            }
            let value = try serializer.serialize(response)
            return response.with(value: value)
        } catch {
            throw Self.refused(response, error, kept)
        }
    }

    @usableFromInline static func refused(
        _ response: Response<Bytes>, _ error: any Error, _ kept: Int
    ) -> any Error {
        (error as? NetworkError)?.carrying(response.body, upTo: kept) ?? error
    }

    /// The response with its whole body, as it came.
    @usableFromInline func fetch(
        _ method: Method, _ target: Target, query: Query, body: RequestBody, options: Options, accept: String?
    ) async throws -> Response<Bytes> {
        let call = try call(
            method, target, query: query, body: body, options: options, accept: accept, isWatched: false)
        return try await TaskDelegate(call).run(call, into: WholeSink())
    }

    /// The value is made before the request is over: others are told of it.
    @usableFromInline func watchedRequest<S: ResponseSerializer>(
        _ method: Method, _ target: Target, query: Query, body: RequestBody, options: Options, as serializer: S
    ) async throws -> Response<S.Output> {
        let call = try call(
            method, target, query: query, body: body, options: options, accept: serializer.accept, isWatched: true)
        return try await TaskDelegate(call).run(call, into: SerializedSink(serializer, call, self))
    }
}
