internal import DunlinReactor

/// Makes the caller's value from a complete response: validates it, serializes it, and names the request in errors. A
/// long body is serialized off the loop, on which others wait; a short one where the caller is.
@usableFromInline struct Serializing: Sendable {
    @usableFromInline let validates: Bool
    @usableFromInline let errors: ErrorRules
    /// The body of the request.
    @usableFromInline let body: RequestBody

    @usableFromInline init(validates: Bool, errors: ErrorRules, body: RequestBody) {
        (self.validates, self.errors, self.body) = (validates, errors, body)
    }

    /// The number of bytes up to which a value is made on the loop, if the caller is there.
    @usableFromInline static var inPlace: Int { 64 * 1024 }

    @inlinable
    func value<S: ResponseSerializer>(
        of response: HTTPSession.Response<Bytes>, by serializer: S, with settings: ContentSettings?,
        isOnLoop: @autoclosure () -> Bool
    ) async throws -> HTTPSession.Response<S.Output> {
        var whole = response.whole
        whole.settings = settings
        do {
            if validates { try serializer.validate(whole) }
            if whole.body.count > Self.inPlace, isOnLoop() {
                let (whole, serializer) = (whole, serializer)
                return response.with(
                    value: try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                        try serializer.serialize(whole)
                    })
            }
            return response.with(value: try serializer.serialize(whole))
        } catch {
            throw response.refused(error, errors, to: body)
        }
    }

    /// The error for a response that did not come completely. If only its body was too long, and the serializer refuses
    /// its status, the status is more useful: that is the error, with the beginning of the body, and the exceeded limit
    /// is the underlying one.
    @usableFromInline func failure(
        _ error: any Error, by serializer: some ResponseSerializer, with settings: ContentSettings?
    ) -> any Error {
        guard validates, var failure = error as? NetworkError, failure.code == .limitExceeded,
            let head = failure.response
        else { return error }
        var whole = HTTP.WholeResponse(head: head, body: failure.body ?? .empty)
        whole.settings = settings
        do {
            try serializer.validate(whole)
        } catch let refusal as NetworkError where refusal.code == .unacceptableStatus {
            var limit = failure
            (failure.code, failure.reason, failure.phase) = (refusal.code, refusal.reason, nil)
            limit.refreshRefusal = nil
            failure.underlying = limit
            return failure
        } catch {
            // The serializer judges more than the status, and has seen only the beginning.
        }
        return error
    }
}
