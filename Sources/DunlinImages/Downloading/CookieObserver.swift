internal import Dunlin
internal import DunlinSemantics
internal import Synchronization

/// Sees with which of a jar's cookies a request goes: the jar may be another user's when it is sent, and the former
/// user's again before and after.
final class CookieObserver: Sendable {
    private let expected: String?
    private let differed = Mutex(false)

    /// `expected` is the whole field, the request's own cookies first.
    init(_ expected: String?) {
        self.expected = expected
    }

    func note(_ field: String?) {
        differed.withLock { $0 = field != expected }
    }

    /// Whether the exchange that was sent last went with others.
    var haveDiffered: Bool { differed.withLock { $0 } }
}

extension HTTPSession {
    /// The Cookie field that a request to a URL would have now: its own cookies, and the jar's.
    func cookieField(for url: String, beside fields: Fields) -> String? {
        let own = fields.values(of: "cookie")
        guard let jar = configuration.cookies else { return CookieField.joined(own, []) }
        do {
            return CookieField.joined(own, try jar.cookies(for: url))
        } catch {
            // There are none for what is no URL.
            return CookieField.joined(own, [])
        }
    }
}
