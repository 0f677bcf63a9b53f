/// An HTTP client, which owns what its requests share: connections, defaults, and the list of running requests.
///
/// ```swift
/// let client = try HTTPSession(.init(baseURL: "https://api.example.com/v1"))
/// let user = try await client.get("users/42", as: User.self)
/// ```
///
/// A session may be used from any task. Releasing the last reference closes its idle connections; running requests keep
/// what they need until they are done. `shutdown()` ends the session sooner and waits for its end.
public final class HTTPSession: Sendable {
    /// The state that its requests share.
    package let core: SessionCore

    /// Creates a session, or another reference to an existing one.
    init(_ core: SessionCore) {
        self.core = core
    }
}
