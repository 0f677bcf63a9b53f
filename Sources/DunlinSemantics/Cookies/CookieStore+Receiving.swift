public import DunlinTypes

extension CookieStore {
    /// Stores the cookies of a response's Set-Cookie fields, up to the limit. Returns whether any was stored.
    @discardableResult
    public mutating func receive(_ fields: [Bytes], from scope: CookieScope, at now: Int64) -> Bool {
        var visit = CookieVisit(scope, suffixes)
        var taken: Set<String> = []
        for field in fields.prefix(max(0, limits.perResponse)) {
            guard let set = SetCookie(field, at: now), let cookie = allowed(set, in: &visit) else { continue }
            take(cookie, of: visit.site(of: cookie.domain), at: now)
            taken.insert(cookie.domain)
        }
        makeRoom(in: taken, at: now)
        return !taken.isEmpty
    }

    /// Stores given cookies, for any host; an expired one removes its like.
    public mutating func put(_ cookies: [HTTP.Cookie], at now: Int64) {
        for cookie in cookies { take(cookie, of: nil, at: now) }
        makeRoom(in: Set(cookies.map(\.domain)), at: now)
    }

    private mutating func take(_ cookie: HTTP.Cookie, of site: String?, at now: Int64) {
        let (event, key) = (tick(), CookieKey(cookie))
        steps += 1
        if cookie.isExpired(at: now) {
            replace(key, in: cookie.domain, of: site, by: nil)
        } else {
            let created = domains[cookie.domain]?.cookies[key]?.created ?? event
            replace(key, in: cookie.domain, of: site, by: Kept(cookie: cookie, created: created, used: event))
            firstEnd = min(firstEnd, cookie.expires ?? .max)
        }
    }

    /// Returns the cookie if this server may set it; nil otherwise.
    private mutating func allowed(_ set: SetCookie, in visit: inout CookieVisit) -> HTTP.Cookie? {
        let scope = visit.scope
        var domain = set.domain ?? ""
        guard domain.isEmpty || scope.isWithin(domain) else { return nil }
        if !domain.isEmpty, suffixes.contains(domain) {
            guard domain == scope.host else { return nil }
            domain = ""
        }
        let isHostOnly = domain.isEmpty || scope.isAddress
        guard set.meetsPrefix(isHostOnly: isHostOnly), !set.isSecure || scope.isSecure else { return nil }
        let cookie = HTTP.Cookie(
            name: set.name, value: set.value, domain: isHostOnly ? scope.host : domain, isHostOnly: isHostOnly,
            path: set.path ?? scope.defaultPath, expires: set.expires, isSecure: set.isSecure,
            isHTTPOnly: set.isHTTPOnly, sameSite: set.sameSite)
        return scope.isSecure || !hidesSecure(cookie, &visit) ? cookie : nil
    }

    /// Whether a secure cookie of this name would be sent to the same place, also to a host above or below. Cookies
    /// without TLS never change secure ones, so they are looked up once for a response.
    private mutating func hidesSecure(_ cookie: HTTP.Cookie, _ visit: inout CookieVisit) -> Bool {
        let secure = visit.secure ?? secureCookies(for: visit)
        visit.secure = secure
        let (isHidden, cost) = secure.isHidden(cookie, visit)
        steps += cost
        return isHidden
    }

    /// Those that a cookie of the visit might hide: of its host, of the domains above, and of their sites.
    ///
    /// Below a domain are only names of the same site: those below a public suffix never meet a cookie of the suffix,
    /// which is for that host alone.
    private mutating func secureCookies(for visit: CookieVisit) -> SecureCookies {
        var secure = SecureCookies()
        let below = Set(visit.sites).compactMap { sites[$0]?.domains }.joined()
        for domain in Set(visit.domains).union(below) {
            guard let held = domains[domain], let match = visit.match(of: domain) else { continue }
            steps += held.cookies.count
            for (key, kept) in held.cookies where kept.cookie.isSecure {
                let name = kept.cookie.name.isEmpty ? CookieName(kept.cookie) : key.name
                secure.add(kept.cookie, name, match, of: held.site)
            }
        }
        return secure
    }
}
