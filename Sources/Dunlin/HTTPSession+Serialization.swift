internal import DunlinReactor

/// Making values of bodies that are not short.
extension HTTPSession {
    /// Bytes of a body that are made a value of wherever the caller is, without further ado.
    @usableFromInline static var serializedAtOnce: Int { 1024 }

    /// Bytes of a body that are made a value of on a loop, should the caller be there.
    @usableFromInline static var serializedInPlace: Int { 64 * 1024 }

    /// Of a long body away from the loop, which has others waiting; of a short one where the caller is, and a loop that
    /// would interrupt it there waits a little: not for a long one, which would keep it for too long. Out of line, for
    /// what it needs to wait is not needed for the shortest.
    @inlinable @inline(never)
    func serialize<S: ResponseSerializer>(_ response: Response<Bytes>, _ serializer: S) async throws -> S.Output {
        switch (isOnLoop, response.value.count > Self.serializedInPlace) {
        case (true, false), (false, true): return try serializer.serialize(response)
        case (false, false): return try undisturbed { try serializer.serialize(response) }
        case (true, true):
            return try await withTaskExecutorPreference(globalConcurrentExecutor) { @concurrent in
                try serializer.serialize(response)
            }
        }
    }

    @inlinable func undisturbed<Value>(_ work: () throws -> Value) rethrows -> Value {
        let mark = Self.beginWork()
        defer { Self.endWork(mark) }
        return try work()
    }

    @usableFromInline static func beginWork() -> UInt64 { BusyProcessors.shared.begin() }

    @usableFromInline static func endWork(_ mark: UInt64) { BusyProcessors.shared.end(mark) }

    @usableFromInline var isOnLoop: Bool { loops.contains(where: \.isCurrent) }
}
