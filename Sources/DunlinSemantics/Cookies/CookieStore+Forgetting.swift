internal import DunlinTypes

extension CookieStore {
    /// Removes cookies beyond the limits, after some of these domains were added.
    mutating func makeRoom(in changed: Set<String>, at now: Int64) {
        noteUses()
        let (most, total) = (max(0, limits.perDomain), max(0, limits.total))
        for site in Set(changed.compactMap { domains[$0]?.site }) where (sites[site]?.count ?? 0) > most {
            forget(downTo: most, of: site, at: now)
        }
        if count > total { forgetEnded(at: now) }
        while count > total, let site = sites.first {
            forget(downTo: site.count - 1, of: site.name, at: now)
        }
    }

    /// Removes a site's expired cookies, then as many as needed: first those that are not secure, the least recently
    /// used first. Use alone does not tell which, so the whole site is searched.
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

    /// Removes all expired cookies. Does nothing before the first one can have expired.
    private mutating func forgetEnded(at now: Int64) {
        if now < firstEnd { return }
        steps += count
        remove { $0.isExpired(at: now) }
        firstEnd = domains.values.flatMap(\.cookies.values).compactMap(\.cookie.expires).min() ?? .max
    }
}
