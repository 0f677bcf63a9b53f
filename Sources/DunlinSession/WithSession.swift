/// Creates a session for `operation` and shuts it down at the end: requests that still run then, in other tasks, are
/// awaited for up to `grace`, then cancelled. Returns when the last of them has ended.
///
/// ```swift
/// try await withSession(.init(baseURL: "https://api.example.com/v1/")) { client in
///     print(try await client.get("users/42", as: User.self))
/// }
/// ```
public func withSession<Value>(
    _ configuration: HTTPSession.Configuration = HTTPSession.Configuration(), grace: Duration = .zero,
    _ operation: (HTTPSession) async throws -> Value
) async throws -> Value {
    let session = try HTTPSession(configuration)
    do {
        let value = try await operation(session)
        await session.shutdown(grace: grace)
        return value
    } catch {
        await session.shutdown()
        throw error
    }
}
