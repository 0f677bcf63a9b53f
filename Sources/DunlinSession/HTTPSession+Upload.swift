extension HTTPSession {
    /// Begins a request and passes it to `operation` while its body is sent: to observe its progress, to suspend it,
    /// and to await its value.
    ///
    /// ```swift
    /// let receipt = try await client.withUpload(to: "albums/7", body: body, as: .json(Receipt.self)) { upload in
    ///     for await step in upload.uploadProgress { show(step.fraction) }
    ///     return try await upload.value
    /// }
    /// ```
    ///
    /// The scope owns the transfer: leaving it by return, throw or cancel ends what is still underway, and this returns
    /// once it has ended. `operation` runs on its caller's executor. Progress that nobody reads costs nothing. Called
    /// within the scope, `shutdown` and its like leave this request out.
    public func withUpload<S: ResponseSerializer, Value>(
        to target: HTTP.Target, method: HTTP.Method = .post, query: HTTP.Query = HTTP.Query(), body: RequestBody,
        headers: Fields = Fields(), timeout: TimeLimit = .session, options: Options = Options(), as serializer: S,
        _ operation: (RequestTask<S.Output>) async throws -> Value
    ) async throws -> Value where S.Output: Sendable {
        let upload = try task(
            target, method: method, query: query, body: body, headers: headers, timeout: timeout, options: options,
            as: serializer)
        upload.resume()
        do {
            let value = try await withTaskCancellationHandler {
                try await Enclosure.enter(.request(upload.id)) { try await operation(upload) }
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

    private func end<Output>(_ upload: RequestTask<Output>) async {
        upload.cancel()
        _ = await upload.settlement.value
    }
}
