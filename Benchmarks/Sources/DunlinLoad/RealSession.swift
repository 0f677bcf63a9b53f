internal import BenchmarkLoad
internal import Dunlin
internal import DunlinResilience

extension Load {
    /// What most sessions have beside a base URL: retries, cookies, a token, and a logger whose level is off. The
    /// server answers `/real` only if it gets this token and these cookies.
    func equip(_ configuration: inout HTTPSession.Configuration) throws {
        configuration.retry = .exponential(attempts: 3)
        let jar = CookieJar()
        try jar.set(HTTP.Cookie(name: "session", value: "6f1ed002ab5595859014ebf0951522d9", domain: host))
        try jar.set(HTTP.Cookie(name: "theme", value: "dark", domain: host))
        try jar.set(HTTP.Cookie(name: "basket", value: "3", domain: host, path: "/shop"))
        configuration.cookies = jar
        let token = HTTPSession.BearerToken("mF_9.B5f-4.1JqM.SlAV32hdQlS6p6UW", lifetime: .seconds(3600))
        configuration.authentication = .bearer(token) { _ in token }
        configuration.observers.append(SilentLog())
    }

    /// What `.standard` has, and a limit of rate that no request meets.
    func harden(_ configuration: inout HTTPSession.Configuration) {
        var resilience = Resilience.standard
        resilience.rates = [Resilience.RateLimit(1_000_000, burst: 1_000_000)]
        configuration.resilience = resilience
    }
}

/// As the adapter for swift-log with a logger whose level is above all lines.
private struct SilentLog: HTTPSession.Observer {
    var isWatching: Bool { false }
}
