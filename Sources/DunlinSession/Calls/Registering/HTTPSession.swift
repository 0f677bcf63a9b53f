/// Makes HTTP requests and owns what they share: connections, defaults, and the list of running requests.
///
/// ```swift
/// let client = try HTTPSession(.init(baseURL: "https://api.example.com/v1"))
/// let user = try await client.get("users/42", as: User.self)
/// ```
///
/// A session may be used from any task. Releasing the last reference closes its idle connections; requests that are
/// still running keep what they need until they are done. `shutdown()` ends it sooner and waits for the end.
public final class HTTPSession: Sendable {
    /// What its requests share.
    package let core: SessionCore

    /// A session, or another face of one that there is.
    init(_ core: SessionCore) {
        self.core = core
    }
}
