internal import DunlinReactor

/// Makes values of bodies: of a long one away from the loop, on which others wait; of a short one where the caller is.
@usableFromInline enum Serializing {
    /// Up to this many bytes, a value is made wherever the caller is, without a check.
    @usableFromInline static var atOnce: Int { 1024 }

    /// Up to this many bytes, a value is made on the loop, if the caller is there.
    @usableFromInline static var inPlace: Int { 64 * 1024 }

    @inlinable
    static func value<S: ResponseSerializer>(
        of response: HTTP.WholeResponse, by serializer: S, isOnLoop: @autoclosure () -> Bool
    ) async throws -> S.Output {
        guard response.body.count > inPlace, isOnLoop() else { return try serializer.serialize(response) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
            try serializer.serialize(response)
        }
    }
}
