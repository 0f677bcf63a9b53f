extension HTTPSession {
    /// Begins a request and passes its handle to `operation` while its body is sent, to observe its progress, suspend
    /// it, and await its value.
    ///
    /// ```swift
    /// let receipt = try await client.withUpload(to: "albums/7", body: body, as: Receipt.self) { upload in
    ///     for await step in upload.uploadProgress { show(step.fraction) }
    ///     return try await upload.value
    /// }
    /// ```
    ///
    /// The scope owns the transfer: leaving it by return, throw or cancel ends a transfer that is still under way, and
    /// this returns when it has ended. `operation` runs on its caller's executor. Progress that nobody reads costs
    /// nothing. If called within the scope, `shutdown` and similar methods exclude this request.
    public func withUpload<S: ResponseSerializer, Value>(
        to target: HTTP.Target, method: HTTP.Method = .post, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody, timeout: Duration? = nil, options: Options = Options(),
        as serializer: S = BytesSerializer(), _ operation: (RequestTask<S.Output>) async throws -> Value
    ) async throws -> Value where S.Output: Sendable {
        let call = try core.call(
            method, target, query: query, body: body, options: options.with(fields, timeout),
            accept: serializer.accept, kind: .upload, isObserved: true)
        let upload = try handle(for: call, into: SerializedSink(serializer, call) { $0 }, isAwaited: true)
        upload.resume()
        do {
            let value = try await withTaskCancellationHandler {
                try await Enclosure.enter(request: upload.id, of: core) { try await operation(upload) }
            } onCancel: {
                upload.cancel()
            }
            await end(upload)
            return value
        } catch {
            await end(upload)
            throw error
        }
    }

    /// Begins a request for a value decoded from JSON, in the same way.
    public func withUpload<Output: Decodable & Sendable, Value>(
        to target: HTTP.Target, method: HTTP.Method = .post, query: HTTP.Query = HTTP.Query(),
        fields: Fields = Fields(), body: RequestBody, timeout: Duration? = nil, options: Options = Options(),
        as type: Output.Type, _ operation: (RequestTask<Output>) async throws -> Value
    ) async throws -> Value {
        try await withUpload(
            to: target, method: method, query: query, fields: fields, body: body, timeout: timeout, options: options,
            as: .json(type), operation)
    }

    private func end<Output>(_ upload: RequestTask<Output>) async {
        upload.cancel()
        _ = await upload.settlement.value
    }
}
