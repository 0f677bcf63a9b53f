internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinWire
internal import Synchronization

/// A store of cookies, which keeps those that servers set and sends them back (RFC 6265bis).
///
/// ```swift
/// configuration.cookies = CookieJar()
/// ```
///
/// A jar belongs to one user. Sessions may share one; a program that serves many users makes a jar for each, or none.
/// It may be used from any task. A change takes effect with the next request, redirects included.
public final class CookieJar: Sendable {
    /// The limits beyond which a jar removes cookies: first expired ones, then cookies of the domain with the most,
    /// insecure ones first and among these the least recently used. `.max` means no limit; a negative number means
    /// zero.
    public struct Limits: Sendable, Hashable {
        /// The number of cookies of one registrable domain, including all hosts below it. This is `example.co.uk` if
        /// the public suffixes are known, otherwise the last two labels.
        public var perDomain = 180
        public var total = 3000
        /// The number of Set-Cookie fields that are read from one response.
        public var perResponse = 180

        public init() {}
    }

    private struct State {
        var store: CookieStore
        var number = UniqueNumber.next()
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> Int64
    private let addition = PreparedAddition()

    public convenience init(limits: Limits = Limits()) {
        self.init(limits: limits, PublicSuffixFile.system) { WallClock.seconds }
    }

    /// Creates a jar whose time advances with `clock` from now on, to test expiring cookies.
    public convenience init(limits: Limits = Limits(), clock: any Clock<Duration>) {
        self.init(limits: limits, PublicSuffixFile.system, clock: Self.seconds(by: clock))
    }

    private static func seconds(by clock: some Clock<Duration>) -> @Sendable () -> Int64 {
        let (start, begun) = (WallClock.seconds, clock.now)
        return { start + begun.duration(to: clock.now).components.seconds }
    }

    /// Creates a jar with public suffixes from a file in the format of publicsuffix.org/list instead of the system's.
    /// Throws if the file cannot be read.
    public convenience init(limits: Limits = Limits(), publicSuffixFile path: String) throws {
        self.init(limits: limits, try PublicSuffixFile.read(path)) { WallClock.seconds }
    }

    /// Creates a jar; `clock` returns seconds since 1970.
    package init(
        limits: Limits = Limits(), publicSuffixes text: String, clock: @escaping @Sendable () -> Int64
    ) {
        state = Mutex(State(store: CookieStore(PublicSuffixes(parsing: Array(text.utf8)), limits: limits.ofStore)))
        self.clock = clock
    }

    private init(limits: Limits, _ suffixes: PublicSuffixes, clock: @escaping @Sendable () -> Int64) {
        state = Mutex(State(store: CookieStore(suffixes, limits: limits.ofStore)))
        self.clock = clock
    }

    /// All cookies that have not expired, oldest first.
    public var cookies: [HTTP.Cookie] {
        let now = clock()
        return state.withLock { $0.store.all(at: now) }
    }

    /// Returns the cookies that a request to this URL would be sent with, in order. Throws a `NetworkError` if the URL
    /// is neither http nor https.
    public func cookies(for url: String) throws -> [HTTP.Cookie] {
        let (scope, now) = (try Self.scope(of: url), clock())
        return state.withLock { $0.store.cookies(for: scope, at: now) }
    }

    /// Adds a cookie, replacing one with the same name, domain and path; an expired cookie removes it. Throws a
    /// `NetworkError` for a cookie that cannot be sent as it is.
    public func set(_ cookie: HTTP.Cookie) throws {
        if let problem = cookie.problem {
            throw NetworkError(
                .invalidRequest, "the cookie \(cookie.name.debugDescription) cannot be stored: \(problem)")
        }
        let now = clock()
        state.withLock { $0.store.put([cookie], at: now) }
    }

    func put(_ cookies: [HTTP.Cookie]) { withStore { $0.put(cookies, at: $1) } }

    func withStore<Result: Sendable>(_ body: (inout CookieStore, _ now: Int64) -> Result) -> Result {
        let now = clock()
        return state.withLock { body(&$0.store, now) }
    }

    /// Stores the cookies of a response from this URL that its server may set.
    public func receive(_ fields: Fields, from url: String) throws {
        let scope = try Self.scope(of: url)
        take(fields, from: scope)
    }

    /// Removes the cookies for which `isWanted` returns true. Returns how many.
    @discardableResult
    public func remove(where isWanted: @Sendable (HTTP.Cookie) -> Bool) -> Int {
        // The caller's closure runs outside the lock.
        let unwanted = Set(cookies.filter(isWanted))
        if unwanted.isEmpty { return 0 }
        return state.withLock { $0.store.remove { unwanted.contains($0) } }
    }

    /// Removes all cookies. The jar then counts as another user's: nothing that was stored for the former one is used,
    /// unless the session's `userID` still names the same user. Requests that were made before set no cookies, and what
    /// they still send, after a redirect or in another attempt, has none.
    public func removeAll() {
        state.withLock { state in
            _ = state.store.remove { _ in true }
            state.number = UniqueNumber.next()
        }
        addition.forget()
    }

    /// A number that no other jar has in any process, nor this one before all cookies were removed.
    package var number: String { state.withLock(\.number) }

    /// What changes with each cookie.
    package struct Edition: Sendable, Hashable {
        private let changes: UInt64
        private let number: String

        fileprivate init(_ changes: UInt64, of number: String) {
            (self.changes, self.number) = (changes, number)
        }
    }

    package var edition: Edition { state.withLock { Edition($0.store.changes, of: $0.number) } }

    private static func scope(of url: String) throws -> CookieScope {
        do throws(AddressError) {
            let address = try WebAddress(url)
            return CookieScope(origin: address.origin, target: address.target)
        } catch {
            throw NetworkError(.invalidRequest, "cookies need an http or https URL", underlying: error)
        }
    }

    /// For a number, only if the jar still has it.
    private func take(_ fields: Fields, from scope: @autoclosure () -> CookieScope, ifStill number: String? = nil) {
        let values = fields.rawValues(of: "set-cookie")
        if values.isEmpty { return }
        let (scope, now) = (scope(), clock())
        state.withLock { state in
            if let number, number != state.number { return }
            _ = state.store.receive(values, from: scope, at: now)
        }
    }
}

// MARK: - The walk

extension CookieJar {
    /// Stores the cookies that the response to `head` set, unless all cookies were removed since the jar had this
    /// number: they are another user's.
    package func receive(_ fields: Fields, from head: RequestHead, ifStill number: String) {
        take(fields, from: CookieScope(origin: head.origin, target: head.target), ifStill: number)
    }

    /// The request with a single Cookie field, or none, in which the caller's own cookies come first.
    package func completing(_ request: TransportRequest) -> TransportRequest {
        let (scope, now) = (CookieScope(origin: request.head.origin, target: request.head.target), clock())
        let found = state.withLock { $0.store.use(for: scope, at: now) }
        let own = request.head.fields.values(of: "cookie")
        guard !found.cookies.isEmpty || own.count > 1,
            let field = own.isEmpty ? found.field : CookieField.joined(own, found.cookies)
        else { return request }
        let adding = { (fields: Fields) in
            var fields = fields
            fields.remove("cookie")
            fields.append(name: "Cookie", value: field, sensitive: true)
            return fields
        }
        return request.with { changes in
            if let head = addition.head(changes.head, with: field, adding) { return changes.head = head }
            changes.head.fields = adding(changes.head.fields)
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
    /// The number of cookies, and nothing about them.
    public var description: String { "CookieJar(\(cookies.count))" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
