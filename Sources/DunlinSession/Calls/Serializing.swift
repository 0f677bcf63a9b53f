internal import DunlinReactor

/// Making values of bodies: of a long one away from the loop, which has others waiting; of a short one where the caller
/// is.
@usableFromInline enum Serializing {
    /// Bytes of a body that are made a value of wherever the caller is, without further ado.
    @usableFromInline static var atOnce: Int { 1024 }

    /// Bytes of a body that are made a value of on a loop, should the caller be there.
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
