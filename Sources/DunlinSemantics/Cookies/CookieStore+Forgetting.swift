internal import DunlinTypes

extension CookieStore {
    /// Forgets what is beyond the limits, after cookies of these domains came.
    mutating func makeRoom(in changed: Set<String>, at now: Int64) {
        let (most, total) = (max(0, limits.perDomain), max(0, limits.total))
        for site in Set(changed.compactMap { domains[$0]?.site }) where (sites[site]?.count ?? 0) > most {
            forget(downTo: most, of: site, at: now)
        }
        if count > total { forgetEnded(at: now) }
        while count > total, let site = sites.first {
            forget(downTo: site.count - 1, of: site.name, at: now)
        }
    }

    /// Forgets of one site what has ended, and then as many as it takes: first what is not secure, of that what was
    /// used longest ago. An order of use alone does not say which, and so the whole site is looked at.
    private mutating func forget(downTo most: Int, of site: String, at now: Int64) {
        let held = (sites[site]?.domains ?? []).flatMap { domain in
            (domains[domain]?.cookies ?? [:]).map { (domain: domain, key: $0.key, kept: $0.value) }
        }
        steps += held.count
        let ended = held.filter { $0.kept.cookie.isExpired(at: now) }
        for (domain, key, _) in ended { replace(key, in: domain, by: nil) }
        let excess = held.count - ended.count - most
        if excess <= 0 { return }
        let others = held.filter { !$0.kept.cookie.isExpired(at: now) }
        let order = { (left: Kept, right: Kept) in
            left.isPlain == right.isPlain ? (left.used, left.created) < (right.used, right.created) : left.isPlain
        }
        if excess == 1, let one = others.min(by: { order($0.kept, $1.kept) }) {
            replace(one.key, in: one.domain, by: nil)
            return
        }
        for (domain, key, _) in others.sorted(by: { order($0.kept, $1.kept) }).prefix(excess) {
            replace(key, in: domain, by: nil)
        }
    }

    /// Forgets whatever has ended, of all sites. Looks at nothing before the first of them can have.
    private mutating func forgetEnded(at now: Int64) {
        if now < firstEnd { return }
        steps += count
        remove { $0.isExpired(at: now) }
        firstEnd = domains.values.flatMap(\.cookies.values).compactMap(\.cookie.expires).min() ?? .max
    }
}
