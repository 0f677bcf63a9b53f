public import DunlinTypes

/// The cookies of one user, and who gets them (RFC 6265bis §5.7 and §5.8).
///
/// Rules:
/// 1. A cookie is its name, its domain, whether it is for that host alone, and its path. Another with the same
///    replaces it and keeps its age. Two without a name have the same name. Where a rule is about a name, it is what a
///    server reads (see `CookieName`).
/// 2. A server sets cookies for its own host and for the domains above, but for public suffixes; an address only for
///    itself.
/// 3. Secure cookies come from https and go to https. What came without it neither replaces nor hides one.
/// 4. Longer paths go first, then older cookies.
/// 5. Beyond its limits the store forgets: what has ended; then of the site that holds most what is not secure, then
///    what was used longest ago. A site is a registrable domain with all names below, or an address, so that nobody
///    gets more room by more hosts, and who fills the store loses his own.
/// 6. A response is taken as a whole: what has ended is looked for once, and its fields beyond the limit are not read.
///    What it costs does not grow with what other sites hold, and no cookie is compared with each of the domains above
///    its host, however many there are.
/// 7. What a request was sent is remembered for others to its origin that lie within the same of the paths that cookies
///    have there, until a cookie of the store changes or one of these ends. Their use is noted in the cookies when that
///    may matter to rule 5.
///
/// Knows no clock: `now` is seconds since 1970.
public struct CookieStore: Sendable {
    public struct Limits: Sendable, Hashable {
        /// The limit for a site.
        public var perDomain = 180
        public var total = 3000
        /// The limit of fields for a response.
        public var perResponse = 180

        public init() {}
    }

    struct Kept: Sendable {
        var cookie: HTTP.Cookie
        /// The order of creation, by a counter, as clocks are set back.
        let created: UInt64
        var used: UInt64
    }

    struct Domain: Sendable {
        let site: String
        var cookies: [CookieKey: Kept] = [:]
    }

    /// Cookies that a request is sent, in order.
    public struct Given: Sendable {
        public let cookies: [HTTP.Cookie]
        /// The Cookie field of them alone; nil without any.
        public let field: String?

        init(_ cookies: [HTTP.Cookie]) {
            (self.cookies, field) = (cookies, cookies.isEmpty ? nil : CookieField.joined([], cookies))
        }
    }

    fileprivate typealias Match = (domain: String, key: CookieKey, kept: Kept)

    /// What requests were sent last.
    fileprivate struct Recent: Sendable {
        let host: String
        let isSecure: Bool
        /// The paths, other than `/`, of the cookies there are for the host, and whether the request was within each.
        let paths: [(path: String, isWithin: Bool)]
        let matches: [Match]
        let given: Given
        /// When the first of the cookies ends.
        let end: Int64
        /// The last use.
        var used: UInt64
    }

    let suffixes: PublicSuffixes
    let limits: Limits
    private var recent: [Recent] = []
    private(set) var domains: [String: Domain] = [:]
    private(set) var sites = CookieSites()
    private var events: UInt64 = 0
    public private(set) var count = 0
    /// The number of times that a cookie was set, changed or removed.
    public private(set) var changes: UInt64 = 0
    /// The earliest expiry of a kept cookie.
    var firstEnd = Int64.max
    /// The work done so far: cookies looked at to decide about others, and cookies removed.
    var steps = 0

    public init(_ suffixes: PublicSuffixes = PublicSuffixes(), limits: Limits = Limits()) {
        self.suffixes = suffixes
        self.limits = limits
    }

    /// Returns all cookies that have not expired, the oldest first.
    public func all(at now: Int64) -> [HTTP.Cookie] {
        domains.values.flatMap(\.cookies.values).filter { !$0.cookie.isExpired(at: now) }
            .sorted { $0.created < $1.created }.map(\.cookie)
    }

    /// Removes cookies. Returns their number.
    @discardableResult
    public mutating func remove(where isWanted: (HTTP.Cookie) -> Bool) -> Int {
        let before = count
        for (domain, held) in domains {
            for (key, kept) in held.cookies where isWanted(kept.cookie) { replace(key, in: domain, by: nil) }
        }
        return before - count
    }

    /// Replaces a cookie; all changes are made here. Empty domains are removed. `site` is the domain's, if known.
    mutating func replace(_ key: CookieKey, in domain: String, of site: String? = nil, by new: Kept?) {
        let isChanged = new.map { !$0.isSame(as: domains[domain]?.cookies[key]) } ?? true
        if isChanged {
            noteUses()
            recent = []
        }
        var held = domains.removeValue(forKey: domain) ?? Domain(site: site ?? suffixes.site(of: domain))
        let old = held.cookies.removeValue(forKey: key)
        if let new { held.cookies[key] = new }
        if isChanged, old != nil || new != nil { changes += 1 }
        let isKept = !held.cookies.isEmpty
        let change = (new == nil ? 0 : 1) - (old == nil ? 0 : 1)
        let plain = (new?.isPlain == true ? 1 : 0) - (old?.isPlain == true ? 1 : 0)
        count += change
        if isKept { domains[domain] = held }
        guard isKept || old != nil else { return }
        sites.change(held.site) { site in
            site.count += change
            site.plain += plain
            if let new { site.used = max(site.used, new.used) }
            if isKept { site.domains.insert(domain) } else { site.domains.remove(domain) }
        }
    }

    mutating func tick() -> UInt64 {
        events += 1
        return events
    }
}

extension CookieStore.Given: CustomReflectable {
    /// An empty mirror: the field has all values.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CookieStore.Recent {
    func isFor(_ other: CookieScope) -> Bool {
        guard isSecure == other.isSecure, host == other.host else { return false }
        if paths.isEmpty { return true }
        let path = other.path
        return paths.allSatisfy { CookieScope.isPath(path, within: $0.path) == $0.isWithin }
    }
}

extension CookieStore.Kept {
    var isPlain: Bool { !cookie.isSecure }

    /// Whether it is sent in the same way, byte for byte: what Unicode takes for the same is another value.
    fileprivate func isSame(as other: CookieStore.Kept?) -> Bool {
        other.map { cookie == $0.cookie && cookie.value.hasSameBytes(as: $0.cookie.value) } ?? false
    }

    fileprivate mutating func noteUse(_ event: UInt64) { used = max(used, event) }
}

// MARK: - Giving

extension CookieStore {
    /// Returns the cookies for `scope`, in order, without counting as a use.
    public func cookies(for scope: CookieScope, at now: Int64) -> [HTTP.Cookie] {
        count == 0 ? [] : matches(scope, at: now).map(\.kept.cookie)
    }

    /// Returns the cookies for `scope`, and counts as a use.
    public mutating func use(for scope: CookieScope, at now: Int64) -> Given {
        if count == 0 { return Given([]) }
        let event = tick()
        if let index = recent.firstIndex(where: { $0.isFor(scope) }) {
            if now < recent[index].end {
                recent[index].used = event
                return recent[index].given
            }
            noteUse(of: recent.remove(at: index))
        }
        let found = matches(scope, at: now)
        let given = Given(found.map(\.kept.cookie))
        let paths = paths(of: scope, at: now)
        let latest = Recent(
            host: scope.host, isSecure: scope.isSecure, paths: paths ?? [], matches: found, given: given,
            end: found.compactMap(\.kept.cookie.expires).min() ?? .max, used: event)
        guard paths != nil else {
            noteUse(of: latest)
            return given
        }
        if recent.count == Self.mostRecent { noteUse(of: recent.removeFirst()) }
        recent.append(latest)
        return given
    }

    /// The limits of what is remembered, and of the paths that decide whether it is for a request: they are compared in
    /// order.
    private static var mostRecent: Int { 8 }
    private static var mostPaths: Int { 8 }

    /// The paths of the cookies that there are for the scope's host. Nil if there are too many, or if one of the
    /// cookies has ended: a clock that is set back would undo that.
    private func paths(of scope: CookieScope, at now: Int64) -> [(path: String, isWithin: Bool)]? {
        var paths: [(path: String, isWithin: Bool)] = []
        for kept in scope.domains.compactMap({ domains[$0]?.cookies.values }).joined() {
            if kept.cookie.isExpired(at: now) { return nil }
            let path = kept.cookie.path
            if path == "/" || paths.contains(where: { $0.path.hasSameBytes(as: path) }) { continue }
            if paths.count == Self.mostPaths { return nil }
            paths.append((path, CookieScope.isPath(scope.path, within: path)))
        }
        return paths
    }

    /// Notes in the cookies and their sites when they were used last.
    mutating func noteUses() {
        for index in recent.indices where recent[index].used > 0 {
            noteUse(of: recent[index])
            recent[index].used = 0
        }
    }

    private mutating func noteUse(of recent: Recent) {
        let event = recent.used
        for (domain, key, _) in recent.matches { domains[domain]?.cookies[key]?.noteUse(event) }
        for site in Set(recent.matches.compactMap { domains[$0.domain]?.site }) {
            sites.change(site) { $0.used = max($0.used, event) }
        }
    }

    private func matches(_ scope: CookieScope, at now: Int64) -> [Match] {
        let path = scope.path
        var found: [Match] = []
        for domain in scope.domains {
            guard let held = domains[domain] else { continue }
            for (key, kept) in held.cookies where Self.isSent(kept.cookie, to: scope, path, at: now) {
                found.append((domain, key, kept))
            }
        }
        return found.sorted { left, right in
            let (a, b) = (left.kept.cookie.path.utf8.count, right.kept.cookie.path.utf8.count)
            return a == b ? left.kept.created < right.kept.created : a > b
        }
    }

    private static func isSent(_ cookie: HTTP.Cookie, to scope: CookieScope, _ path: String, at now: Int64) -> Bool {
        (!cookie.isSecure || scope.isSecure) && !cookie.isExpired(at: now)
            && (cookie.isHostOnly ? scope.host == cookie.domain : scope.isWithin(cookie.domain))
            && CookieScope.isPath(path, within: cookie.path)
    }
}
