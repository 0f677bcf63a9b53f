public import DunlinTypes

/// The cookies of one user, and who gets them (RFC 6265bis §5.7 and §5.8).
///
/// Rules:
/// 1. A cookie is its name, its domain, whether it is for that host alone, and its path. Another with the same
///    replaces it and keeps its age.
/// 2. A server sets cookies for its own host and for the domains above, but for public suffixes; an address only for
///    itself.
/// 3. Secure cookies come from https and go to https. What came without it neither replaces nor hides one.
/// 4. Longer paths go first, then older cookies.
/// 5. Beyond its limits the store forgets: what has ended, then of one domain what is not secure, then what was used
///    longest ago.
///
/// Knows no clock: `now` is seconds since 1970.
public struct CookieStore: Sendable {
    public struct Limits: Sendable, Hashable {
        public var perDomain = 50
        public var total = 3000

        public init() {}
    }

    private struct Kept: Sendable {
        var cookie: StoredCookie
        /// Counted, not timed: clocks are set back.
        let created: UInt64
        var used: UInt64
    }

    private let suffixes: PublicSuffixes
    private let limits: Limits
    private var domains: [String: [Kept]] = [:]
    private var events: UInt64 = 0
    public private(set) var count = 0

    public init(_ suffixes: PublicSuffixes = PublicSuffixes(), limits: Limits = Limits()) {
        self.suffixes = suffixes
        self.limits = limits
    }

    /// All that have not ended, oldest first.
    public func all(at now: Int64) -> [StoredCookie] {
        domains.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.created < $1.created }
            .map(\.cookie)
    }

    /// The number removed.
    @discardableResult
    public mutating func remove(where isWanted: (StoredCookie) -> Bool) -> Int {
        let before = count
        for domain in Array(domains.keys) { change(domain) { $0.removeAll { isWanted($0.cookie) } } }
        return before - count
    }

    /// Empty domains are not kept.
    private mutating func change(_ domain: String, _ change: (inout [Kept]) -> Void) {
        var list = domains.removeValue(forKey: domain) ?? []
        count -= list.count
        change(&list)
        count += list.count
        if !list.isEmpty { domains[domain] = list }
    }

    private mutating func tick() -> UInt64 {
        events += 1
        return events
    }
}

// MARK: - Giving

extension CookieStore {
    /// What goes to `scope`, in order. Says nothing of its being used.
    public func cookies(for scope: CookieScope, at now: Int64) -> [StoredCookie] {
        count == 0 ? [] : matches(scope, at: now).map(\.cookie)
    }

    /// The same, used now.
    public mutating func use(for scope: CookieScope, at now: Int64) -> [StoredCookie] {
        if count == 0 { return [] }
        let found = matches(scope, at: now)
        let event = tick()
        for domain in Set(found.map(\.cookie.domain)) {
            change(domain) { list in
                for index in list.indices where Self.goes(list[index].cookie, to: scope, at: now) {
                    list[index].used = event
                }
            }
        }
        return found.map(\.cookie)
    }

    private func matches(_ scope: CookieScope, at now: Int64) -> [Kept] {
        var found: [Kept] = []
        for domain in scope.domains {
            guard let list = domains[domain] else { continue }
            found += list.filter { Self.goes($0.cookie, to: scope, at: now) }
        }
        return found.sorted { left, right in
            let (a, b) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return a == b ? left.created < right.created : a > b
        }
    }

    private static func goes(_ cookie: StoredCookie, to scope: CookieScope, at now: Int64) -> Bool {
        (!cookie.isSecure || scope.isSecure) && !cookie.isExpired(at: now)
            && (cookie.isHostOnly ? scope.host == cookie.domain : scope.isWithin(cookie.domain))
            && CookieScope.isPath(scope.path, within: cookie.path)
    }
}

// MARK: - Taking

extension CookieStore {
    /// Takes what the Set-Cookie fields of a response say, each by itself. Whether any was taken.
    @discardableResult
    public mutating func receive(_ fields: [Bytes], from scope: CookieScope, at now: Int64) -> Bool {
        var isTaken = false
        for field in fields {
            guard let set = SetCookie(field, at: now), let cookie = allowed(set, from: scope) else { continue }
            put(cookie, at: now)
            isTaken = true
        }
        return isTaken
    }

    /// Takes a cookie that somebody made, whatever it is for; one that has ended removes its like.
    public mutating func put(_ cookie: StoredCookie, at now: Int64) {
        let event = tick()
        let isOver = cookie.isExpired(at: now)
        change(cookie.domain) { list in
            guard let index = list.firstIndex(where: { $0.cookie.isSame(as: cookie) }) else {
                if !isOver { list.append(Kept(cookie: cookie, created: event, used: event)) }
                return
            }
            if isOver {
                list.remove(at: index)
            } else {
                list[index].cookie = cookie
                list[index].used = event
            }
        }
        if !isOver { makeRoom(in: cookie.domain, at: now) }
    }

    /// Nil for what this server may not set.
    private func allowed(_ set: SetCookie, from scope: CookieScope) -> StoredCookie? {
        var domain = set.domain ?? ""
        if !domain.isEmpty, suffixes.contains(domain) {
            guard domain == scope.host else { return nil }
            domain = ""
        }
        guard domain.isEmpty || scope.isWithin(domain) else { return nil }
        let isHostOnly = domain.isEmpty || scope.isAddress
        guard set.keepsPromises(isHostOnly: isHostOnly), !set.isSecure || scope.isSecure else { return nil }
        let cookie = StoredCookie(
            name: set.name, value: set.value, domain: isHostOnly ? scope.host : domain, isHostOnly: isHostOnly,
            path: set.path ?? scope.defaultPath, expires: set.expires, isSecure: set.isSecure,
            isHTTPOnly: set.isHTTPOnly, sameSite: set.sameSite)
        return scope.isSecure || !hidesSecure(cookie) ? cookie : nil
    }

    /// Whether a secure cookie of this name would go where this one goes, to a host above or below as well.
    private func hidesSecure(_ cookie: StoredCookie) -> Bool {
        domains.contains { domain, list in
            guard
                domain == cookie.domain || CookieScope.isName(domain, below: cookie.domain)
                    || CookieScope.isName(cookie.domain, below: domain)
            else { return false }
            return list.contains {
                $0.cookie.isSecure && $0.cookie.isNamed(like: cookie)
                    && CookieScope.isPath(cookie.path, within: $0.cookie.path)
            }
        }
    }
}

// MARK: - Forgetting

extension CookieStore {
    private mutating func makeRoom(in domain: String, at now: Int64) {
        let limits = limits
        if domains[domain, default: []].count > limits.perDomain {
            change(domain) { list in
                list.removeAll { $0.cookie.isExpired(at: now) }
                while list.count > limits.perDomain, let index = Self.leastWanted(list) { list.remove(at: index) }
            }
        }
        guard count > limits.total else { return }
        remove { $0.isExpired(at: now) }
        while count > limits.total, let oldest = longestUnused() {
            change(oldest.domain) { $0.removeAll { $0.created == oldest.created } }
        }
    }

    private static func leastWanted(_ list: [Kept]) -> Int? {
        list.indices.min { a, b in
            let (left, right) = (list[a], list[b])
            return left.cookie.isSecure == right.cookie.isSecure ? left.used < right.used : right.cookie.isSecure
        }
    }

    private func longestUnused() -> (domain: String, created: UInt64)? {
        domains.values.joined().min { ($0.used, $0.created) < ($1.used, $1.created) }
            .map { ($0.cookie.domain, $0.created) }
    }
}

extension StoredCookie {
    fileprivate func isNamed(like other: StoredCookie) -> Bool { name.utf8.elementsEqual(other.name.utf8) }

    /// Byte for byte: what Unicode takes for the same is two cookies to a server.
    fileprivate func isSame(as other: StoredCookie) -> Bool {
        isNamed(like: other) && isHostOnly == other.isHostOnly && domain == other.domain
            && path.utf8.elementsEqual(other.path.utf8)
    }
}
