internal import DunlinReactor

/// Making values of bodies that are not short.
extension HTTPSession {
    /// Bytes of a body that are made a value of wherever the caller is, without further ado.
    @usableFromInline static var serializedAtOnce: Int { 1024 }

    /// Bytes of a body that are made a value of on a loop, should the caller be there.
    @usableFromInline static var serializedInPlace: Int { 64 * 1024 }

    /// Of a long body away from the loop, which has others waiting; of a short one where the caller is.
    @inlinable
    func serialize<S: ResponseSerializer>(_ response: Response<Bytes>, _ serializer: S) async throws -> S.Output {
        guard response.value.count > Self.serializedInPlace, isOnLoop else { return try serializer.serialize(response) }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
            try serializer.serialize(response)
        }
    }

    @usableFromInline var isOnLoop: Bool { loops.contains(where: \.isCurrent) }
}
