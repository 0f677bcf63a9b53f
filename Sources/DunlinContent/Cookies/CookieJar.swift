internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// Keeps the cookies that servers set and sends them back, as RFC 6265bis says.
///
/// ```swift
/// configuration.cookies = CookieJar()
/// ```
///
/// A jar belongs to one user. Sessions may share one; a program that serves many users makes a jar for each, or none.
/// It may be used from any task, and a change counts from the next request on, redirects included.
public final class CookieJar: Sendable {
    /// Beyond these limits a jar removes cookies: those that have expired, then, of the domain that has most, those
    /// that are not secure, and of these the ones that were used longest ago. `.max` is no limit; a negative number is
    /// zero.
    public struct Limits: Sendable, Hashable {
        /// Cookies of one registrable domain, all hosts below it included: of `example.co.uk`, where the public
        /// suffixes are known, and otherwise of the last two labels.
        public var perDomain = 180
        public var total = 3000
        /// Set-Cookie fields of one response; further ones are not read.
        public var perResponse = 180

        public init() {}
    }

    private let store: Mutex<CookieStore>
    private let clock: @Sendable () -> Int64

    public convenience init(limits: Limits = Limits()) {
        self.init(limits: limits, PublicSuffixFile.system) { WallClock.seconds }
    }

    /// A jar whose time goes on as `clock` does, from now on: for tests of what happens when cookies expire.
    public convenience init(limits: Limits = Limits(), clock: any Clock<Duration>) {
        self.init(limits: limits, PublicSuffixFile.system, clock: Self.seconds(by: clock))
    }

    private static func seconds(by clock: some Clock<Duration>) -> @Sendable () -> Int64 {
        let (start, begun) = (WallClock.seconds, clock.now)
        return { start + begun.duration(to: clock.now).components.seconds }
    }

    /// Makes a jar with public suffixes from a file in the form of publicsuffix.org/list, instead of the system's.
    /// Throws if it cannot be read.
    public convenience init(limits: Limits = Limits(), publicSuffixFile path: String) throws {
        self.init(limits: limits, try PublicSuffixFile.read(path)) { WallClock.seconds }
    }

    /// `clock` tells seconds since 1970.
    package init(
        limits: Limits = Limits(), publicSuffixes text: String, clock: @escaping @Sendable () -> Int64
    ) {
        store = Mutex(CookieStore(PublicSuffixes(parsing: Array(text.utf8)), limits: limits.ofStore))
        self.clock = clock
    }

    private init(limits: Limits, _ suffixes: PublicSuffixes, clock: @escaping @Sendable () -> Int64) {
        store = Mutex(CookieStore(suffixes, limits: limits.ofStore))
        self.clock = clock
    }

    /// All cookies that have not expired, oldest first.
    public var cookies: [HTTP.Cookie] {
        let now = clock()
        return store.withLock { $0.all(at: now) }
    }

    /// The cookies that a request to this URL would be sent with, in order. Throws `NetworkError` for a URL that is
    /// neither http nor https.
    public func cookies(for url: String) throws -> [HTTP.Cookie] {
        let (scope, now) = (try Self.scope(of: url), clock())
        return store.withLock { $0.cookies(for: scope, at: now) }
    }

    /// Adds a cookie, or replaces the one of the same name, domain and path; one that has expired removes it. Throws
    /// `NetworkError` for one that cannot be sent as it is.
    public func set(_ cookie: HTTP.Cookie) throws {
        if let problem = cookie.problem {
            throw NetworkError(
                .invalidRequest, "the cookie \(cookie.name.debugDescription) cannot be stored: \(problem)")
        }
        let now = clock()
        store.withLock { $0.put([cookie], at: now) }
    }

    func put(_ cookies: [HTTP.Cookie]) {
        let now = clock()
        store.withLock { $0.put(cookies, at: now) }
    }

    /// Stores the cookies of a response from this URL, as far as its server may set them.
    public func receive(_ fields: Fields, from url: String) throws {
        let scope = try Self.scope(of: url)
        take(fields, from: scope)
    }

    /// Removes cookies; returns how many.
    @discardableResult
    public func remove(where isWanted: @Sendable (HTTP.Cookie) -> Bool) -> Int {
        // What the caller says is asked outside the lock.
        let unwanted = Set(cookies.filter(isWanted))
        if unwanted.isEmpty { return 0 }
        return store.withLock { $0.remove { unwanted.contains($0) } }
    }

    public func removeAll() {
        store.withLock { _ = $0.remove { _ in true } }
    }

    private static func scope(of url: String) throws -> CookieScope {
        do throws(AddressError) {
            let address = try WebAddress(url)
            return CookieScope(origin: address.origin, target: address.target)
        } catch {
            throw NetworkError(.invalidRequest, "cookies need an http or https URL", underlying: error)
        }
    }

    private func take(_ fields: Fields, from scope: @autoclosure () -> CookieScope) {
        let values = fields.rawValues(of: "set-cookie")
        if values.isEmpty { return }
        let (scope, now) = (scope(), clock())
        store.withLock { _ = $0.receive(values, from: scope, at: now) }
    }
}

// MARK: - The walk

extension CookieJar {
    /// What the response to `head` set.
    package func receive(_ fields: Fields, from head: RequestHead) {
        take(fields, from: CookieScope(origin: head.origin, target: head.target))
    }

    /// The request with its one Cookie field, if it is to have any: the caller's own first.
    package func completing(_ request: TransportRequest) -> TransportRequest {
        let now = clock()
        let found = store.withLock { store in
            store.count == 0
                ? []
                : store.use(for: CookieScope(origin: request.head.origin, target: request.head.target), at: now)
        }
        let own = request.head.fields.values(of: "cookie")
        guard !found.isEmpty || own.count > 1, let field = CookieField.joined(own, found) else { return request }
        return request.with(cookie: field)
    }
}

extension TransportRequest {
    fileprivate func with(cookie: String) -> TransportRequest {
        with { request in
            request.head.fields.remove("cookie")
            request.head.fields.append(name: "Cookie", value: cookie, sensitive: true)
        }
    }
}

extension CookieJar.Limits {
    fileprivate var ofStore: CookieStore.Limits {
        var limits = CookieStore.Limits()
        (limits.perDomain, limits.total, limits.perResponse) = (perDomain, total, perResponse)
        return limits
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// Shows how many cookies there are, and nothing of them.
    public var description: String { "CookieJar(\(cookies.count))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
