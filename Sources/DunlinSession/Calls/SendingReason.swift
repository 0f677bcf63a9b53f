/// Why a call is sent again.
enum SendingReason: Hashable, Sendable, CaseIterable {
    case retry
    case redirect
    /// A challenge was answered.
    case password
    /// The credential was refused, and there is a newer one.
    case credential
    /// The connection had been closed.
    case connection
    /// There was no network; nothing was sent.
    case network
    /// The server refused `Expect`.
    case expectation
    /// The stored response was useless.
    case cache
    /// A proxy asked for a password.
    case proxy
    /// An interceptor sent again, or a download continued.
    case continuation
}

extension SendingReason {
    /// The reason and its count, as in an error.
    func described(_ count: Int) -> String {
        let (one, more) = words
        return "\(count) \(count == 1 ? one : more)"
    }

    private var words: (one: String, more: String) {
        switch self {
        case .retry: ("retry", "retries")
        case .redirect: ("redirect", "redirects")
        case .password: ("answer to a challenge", "answers to challenges")
        case .credential: ("newer credential", "newer credentials")
        case .connection: ("lost connection", "lost connections")
        case .network: ("wait for a network", "waits for a network")
        case .expectation: ("refused expectation", "refused expectations")
        case .cache: ("unusable stored response", "unusable stored responses")
        case .proxy: ("challenge of a proxy", "challenges of proxies")
        case .continuation: ("continuation", "continuations")
        }
    }
}
