import Dunlin
import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

/// Which requests share a connection to a proxy, and what each side gets to see.
@Suite(.timeLimit(.minutes(10)))
struct `What proxies are shared by` {
    /// Plays over a proxy in clear text, and over one under TLS.
    private static func eachProxy(
        secureOrigin: Bool = false, user: String? = nil,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (ProxyStage) async throws -> Void
    ) async throws {
        try await Stage.$isSecure.withValue(secureOrigin) {
            try await ProxyStage.with(user: user, password: "geheim", configure: configure, play)
            try await ProxyStage.overTLS(user: user, password: "geheim", configure: configure, play)
        }
    }

    private static func connection(
        _ scene: ProxyStage, _ url: String = "path", _ options: HTTPSession.Options = .init()
    ) async throws -> UInt64 {
        let response = try await scene.session.get(.url(url), options: options, as: .bytes)
        return try #require(response.metrics.hops.last).connection
    }

    @Test func `one connection to a proxy that forwards serves all origins`() async throws {
        try await Self.eachProxy(user: "ada") { (scene: ProxyStage) async throws in
            let others = try (0..<3).map { _ in try LoopbackServer() }
            defer { others.forEach { $0.stop() } }
            others.forEach { $0.respond { _ in .response(body: "another") } }
            for server in others + [scene.server] + others {
                #expect(try await scene.session.get(.url(server.baseURL + "/x"), as: .bytes).status == .ok)
                let seen = try #require(server.requests.last)
                #expect(seen.fields["host"] == "127.0.0.1:\(server.port)" && seen.target == "/x")
                #expect(!seen.fields.contains("proxy-authorization"))
            }
            #expect(scene.proxy.connectionCount == 1 && scene.session.connections.open == 1)
            let gauges = try #require(await scene.session.gauges().pool)
            #expect(gauges.origins.count == 1 && gauges.origins.keys.first?.hasPrefix("the proxy http") == true)
            #expect("\(gauges.origins)".contains("geheim") == false)
        }
    }

    @Test func `a tunnel, the direct way and a proxy that forwards share nothing`() async throws {
        try await Self.eachProxy { (scene: ProxyStage) async throws in
            let secure = try Stage.$isSecure.withValue(true) { try Stage.makeServer() }
            defer { secure.stop() }
            secure.respond { _ in .response(body: "x") }
            let direct = HTTPSession.Options(proxy: .none)
            let socks = HTTPSession.Options(proxy: .url("socks5h://127.0.0.1:\(scene.proxy.port)"))
            var seen = [try await Self.connection(scene, scene.server.baseURL)]
            // The proxy itself is an origin too, and so is what it forwards to.
            _ = try? await Self.connection(scene, "http://127.0.0.1:\(scene.proxy.port)/", direct)
            seen.append(try await Self.connection(scene, scene.server.baseURL, direct))
            if scene.proxy.handshakes.isEmpty {
                seen.append(try await Self.connection(scene, scene.server.baseURL, socks))
            }
            #expect(Set(seen).count == seen.count)
            #expect(try await Self.connection(scene, scene.server.baseURL) == seen[0])
        }
    }

    @Test func `neither other credentials nor another guard use a connection to a proxy`() async throws {
        for isSecure in [false, true] {
            try await Self.eachProxy(secureOrigin: isSecure) { (scene: ProxyStage) async throws in
                let scheme = "\(scene.session.configuration.proxy)".hasPrefix("https") ? "https" : "http"
                func options(_ user: String?, _ rules: HTTPSession.Guard? = nil) -> HTTPSession.Options {
                    var options = HTTPSession.Options(
                        proxy: .url(scene.proxy.url(scheme, user: user, password: "x")))
                    if let rules { options.guard = .value(rules) }
                    return options
                }
                var rules = HTTPSession.Guard.nothing
                rules.allowedAddresses = ["127.0.0.1"]
                let all = [options("a"), options("b"), options(nil), options(nil, rules)]
                var seen: [UInt64] = []
                for each in all + all { seen.append(try await Self.connection(scene, "path", each)) }
                #expect(Set(seen).count == 4 && seen[..<4] == seen[4...])
            }
        }
    }

    @Test func `a request with a handler of its own has a tunnel to itself, and no TLS with the proxy of its own`()
        async throws
    {
        for isSecure in [false, true] {
            try await Self.eachProxy(secureOrigin: isSecure) { (scene: ProxyStage) async throws in
                let hook = Hook { _ in .performDefault }
                var options = HTTPSession.Options()
                options.authenticationHandler = hook.hook
                let shared = try await Self.connection(scene)
                let own = [
                    try await Self.connection(scene, "path", options),
                    try await Self.connection(scene, "path", options),
                ]
                #expect(Set(own + [shared]).count == (isSecure ? 3 : 1))
                #expect(hook.questions == (isSecure ? "bb" : ""))
                #expect(hook.asked.allSatisfy { $0.origin.port == scene.server.port })
                #expect(try await Self.connection(scene) != own[1] || !isSecure)
            }
        }
    }

    @Test func `a redirect from http to https goes through the proxy both times, and tells nobody of it`() async throws
    {
        try await Self.eachProxy(secureOrigin: true, user: "ada") { (scene: ProxyStage) async throws in
            let clear = try LoopbackServer()
            defer { clear.stop() }
            let target = scene.server.baseURL + "/path"
            clear.respond { _ in .response(.found, fields: ["Location": target]) }
            let response = try await scene.session.get(.url(clear.baseURL + "/"), as: .string)
            #expect(response.value == "from the origin" && response.metrics.hops.count == 2)
            #expect(response.metrics.hops.allSatisfy { $0.proxy != nil })
            #expect(scene.proxy.visits.map(\.kind) == [.absolute, .connect] && scene.proxy.connectionCount == 2)
            let seen = clear.requests + scene.server.requests
            #expect(seen.count == 2 && seen.allSatisfy { !$0.fields.contains("proxy-authorization") })
        }
    }

    @Test(.rules("9110-11.7.1-1")) func `a 407 through a tunnel is the origin's, and gets no password`() async throws {
        try await Self.eachProxy(
            secureOrigin: true, user: "ada",
            configure: { $0.credentials = .password(user: "bob", password: "geheim") }
        ) { (scene: ProxyStage) async throws in
            scene.server.respond { _ in
                .response(
                    .proxyAuthenticationRequired, fields: ["Proxy-Authenticate": "Basic realm=\"x\""], body: "mine")
            }
            var options = HTTPSession.Options(validatesResponse: false)
            options.fields["X-Mine"] = "x"
            let response = try await scene.get(options)
            #expect(response.status == .proxyAuthenticationRequired && response.value == "mine")
            #expect(scene.server.requests.count == 1 && scene.proxy.visits.count == 1)
            #expect(scene.server.requests.first.map { "\($0.fields)".contains("Proxy-Auth") } == false)
            let error = try await scene.failure()
            #expect(error.code != .proxyAuthenticationFailed && error.response?.status.code == 407, "\(error)")
        }
    }
}
