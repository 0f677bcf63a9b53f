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

    let suffixes: PublicSuffixes
    let limits: Limits
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
        var held = domains.removeValue(forKey: domain) ?? Domain(site: site ?? suffixes.site(of: domain))
        let old = held.cookies.removeValue(forKey: key)
        if let new { held.cookies[key] = new }
        if old?.cookie != new?.cookie { changes += 1 }
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

extension CookieStore.Kept {
    var isPlain: Bool { !cookie.isSecure }
}

// MARK: - Giving

extension CookieStore {
    /// Returns the cookies for `scope`, in order, without counting as a use.
    public func cookies(for scope: CookieScope, at now: Int64) -> [HTTP.Cookie] {
        count == 0 ? [] : matches(scope, at: now).map(\.kept.cookie)
    }

    /// Returns the cookies for `scope`, and counts as a use.
    public mutating func use(for scope: CookieScope, at now: Int64) -> [HTTP.Cookie] {
        if count == 0 { return [] }
        let found = matches(scope, at: now)
        let event = tick()
        for (domain, key, _) in found { domains[domain]?.cookies[key]?.used = event }
        for site in Set(found.compactMap { domains[$0.domain]?.site }) { sites.change(site) { $0.used = event } }
        return found.map(\.kept.cookie)
    }

    private func matches(_ scope: CookieScope, at now: Int64) -> [(domain: String, key: CookieKey, kept: Kept)] {
        var found: [(domain: String, key: CookieKey, kept: Kept)] = []
        for domain in scope.domains {
            guard let held = domains[domain] else { continue }
            for (key, kept) in held.cookies where Self.isSent(kept.cookie, to: scope, at: now) {
                found.append((domain, key, kept))
            }
        }
        return found.sorted { left, right in
            let (a, b) = (left.kept.cookie.path.utf8.count, right.kept.cookie.path.utf8.count)
            return a == b ? left.kept.created < right.kept.created : a > b
        }
    }

    private static func isSent(_ cookie: HTTP.Cookie, to scope: CookieScope, at now: Int64) -> Bool {
        (!cookie.isSecure || scope.isSecure) && !cookie.isExpired(at: now)
            && (cookie.isHostOnly ? scope.host == cookie.domain : scope.isWithin(cookie.domain))
            && CookieScope.isPath(scope.path, within: cookie.path)
    }
}
