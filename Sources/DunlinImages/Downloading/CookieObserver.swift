internal import Dunlin
internal import DunlinSemantics
internal import Synchronization

/// Observes which of a jar's cookies a request is sent with: the jar may be another user's when it is sent, and the
/// former user's again before and after.
final class CookieObserver: Sendable {
    private let expected: String?
    private let differed = Mutex(false)

    /// Creates an observer; `expected` is what the jar adds to the field.
    init(_ expected: String?) {
        self.expected = expected
    }

    func note(_ field: String?) {
        differed.withLock { $0 = !field.hasSameBytes(as: expected) }
    }

    /// Whether the last exchange was sent with other cookies.
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
            // A text that is not a URL has no cookies.
            return CookieField.joined(own, [])
        }
    }
}

extension ImageDownloader.Download {
    /// What the jar added to the request's own cookies.
    var jarCookies: String? { CookieField.added(to: request.fields.values(of: "cookie"), in: cookies?.string) }
}
