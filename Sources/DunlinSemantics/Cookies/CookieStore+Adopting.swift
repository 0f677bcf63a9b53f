public import DunlinTypes

extension CookieStore {
    /// Stores cookies that were kept outside, such as in another program's file, where their servers are not known. An
    /// expired one removes its like. Returns the refused ones: those that cannot be sent as they are, and those that
    /// break their names' promises.
    ///
    /// No server may set a cookie for a public suffix or for what lies below an address, so a cookie for one goes to
    /// that host alone.
    public mutating func adopt(_ cookies: [HTTP.Cookie], at now: Int64) -> [HTTP.Cookie] {
        var (adopted, refused) = ([HTTP.Cookie](), [HTTP.Cookie]())
        for cookie in cookies {
            var own = cookie
            own.isHostOnly = own.isHostOnly || isHostAlone(own.domain)
            if own.problem == nil, own.meetsPrefix { adopted.append(own) } else { refused.append(cookie) }
        }
        put(adopted, at: now)
        return refused
    }

    private func isHostAlone(_ domain: String) -> Bool {
        suffixes.contains(domain) || HostLiteral.parse(domain, port: 0) != nil
    }
}
