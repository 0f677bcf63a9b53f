/// The sessions whose credential the running code gets anew: their authenticators leave its requests alone, which would
/// wait for themselves.
enum Refreshing {
    @TaskLocal private static var sessions: [ObjectIdentifier] = []

    static func of<Value: Sendable>(
        _ core: SessionCore, _ work: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        try await $sessions.withValue(sessions + [ObjectIdentifier(core)], operation: work)
    }

    static func includes(_ core: SessionCore) -> Bool { sessions.contains(ObjectIdentifier(core)) }
}
