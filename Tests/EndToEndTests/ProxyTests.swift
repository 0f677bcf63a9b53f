import Dunlin
import DunlinTesting
import DunlinTypes
import FoundationEssentials
import LedgerRows
import Mocking
import Synchronization
import Testing

/// A stage whose session goes to its server through a proxy.
struct ProxyStage {
    let stage: Stage
    let proxy: LoopbackProxy

    var session: HTTPSession { stage.session }
    var server: LoopbackServer { stage.server }
    /// The origin under a name that only the proxy knows.
    var named: String { "\(stage.scheme)://localhost:\(server.port)" }

    static func with(
        _ scheme: String = "http", user: String? = nil, password: String = "", sending: (String, String)? = nil,
        login: LoopbackProxy.Login = .basic, tls: LoopbackServer.TLS? = nil, clock: ManualClock? = nil,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (ProxyStage) async throws -> Void
    ) async throws {
        let proxy = try LoopbackProxy(user: user, password: password, login: login, tls: tls)
        defer { proxy.stop() }
        try await Stage.with(
            clock: clock, tolerating: true,
            configure: {
                $0.proxy = .url(proxy.url(scheme, user: sending?.0 ?? user, password: sending?.1 ?? password))
                configure(&$0)
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "from the origin") }
            try await play(ProxyStage(stage: stage, proxy: proxy))
        }
    }

    func get(_ options: HTTPSession.Options = .init()) async throws -> HTTPSession.Response<String> {
        try await session.get("path?q=geheim", options: options, as: .string)
    }

    func failure(_ options: HTTPSession.Options = .init()) async throws -> NetworkError {
        try await NetworkError.thrown { _ = try await get(options) }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Proxies` {
    private static let schemes = ["http", "socks5", "socks5h"]

    @Test(.rules("9110-7.3.2-1"), arguments: schemes, [nil, "ada"])
    func `a request goes through a proxy, and the next one over the same connection`(
        scheme: String, user: String?
    ) async throws {
        try await ProxyStage.with(scheme, user: user, password: "pw") { (scene: ProxyStage) async throws in
            for _ in 1...3 {
                let response = try await scene.get()
                #expect(response.value == "from the origin")
                let hop = try #require(response.metrics.hops.last)
                #expect(hop.proxy == scene.proxy.url(scheme))
                #expect(hop.peer == .v4(0x7F00_0001, port: scene.proxy.port))
            }
            let isTunnel = Stage.isSecure || scheme != "http"
            #expect(scene.proxy.connectionCount == 1 && scene.proxy.visits.count == (isTunnel ? 1 : 3))
            #expect(scene.server.requests.allSatisfy { $0.target == "/path?q=geheim" })
        }
    }

    @Test(.rules("9110-11.7.2-1", "9110-17.2-1"))
    func `nothing of a request is said in CONNECT, and nothing of the proxy's reaches the origin`() async throws {
        try await ProxyStage.with(user: "ada", password: "pw") { (scene: ProxyStage) async throws in
            var options = HTTPSession.Options()
            options.fields = [
                "Authorization": "Bearer hush", "Cookie": "a=hush", "X-Mine": "hush", "Proxy-Authorization": "hush",
                "Proxy-Connection": "keep-alive",
            ]
            _ = try await scene.get(options)
            let visit = try #require(scene.proxy.visits.first)
            if Stage.isSecure {
                let authority = "127.0.0.1:\(scene.server.port)"
                #expect(
                    visit.said == "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
                        + "Proxy-Authorization: Basic YWRhOnB3\r\n\r\n")
            } else {
                #expect(visit.target == "http://127.0.0.1:\(scene.server.port)/path?q=geheim")
                #expect(visit.said.contains("Proxy-Authorization: Basic YWRhOnB3\r\n"))
                #expect(!visit.said.contains("Proxy-Authorization: hush"))
            }
            let request = try #require(scene.server.requests.first)
            #expect(request.fields["Authorization"] == "Bearer hush" && request.fields["X-Mine"] == "hush")
            #expect(!request.fields.contains("proxy-authorization") && !request.fields.contains("proxy-connection"))
        }
    }

    @Test func `socks5 resolves names here, and socks5h at the proxy`() async throws {
        for (scheme, host) in [("socks5", "127.0.0.1"), ("socks5h", "localhost")] {
            try await ProxyStage.with(scheme) { (scene: ProxyStage) async throws in
                _ = try await scene.session.get(.url(scene.named + "/"), as: .bytes)
                #expect(scene.proxy.visits.map(\.target) == ["\(host):\(scene.server.port)"])
            }
        }
    }

    @Test(arguments: schemes) func `credentials that are refused are an error of their own`(scheme: String) async throws
    {
        try await ProxyStage.with(scheme, user: "ada", password: "pw", sending: ("ada", "falsch")) {
            (scene: ProxyStage) async throws in
            let error = try await scene.failure()
            #expect(error.code == .proxyAuthenticationFailed, "\(error)")
            #expect(!"\(error)".contains("falsch") && scene.server.requests.isEmpty)
            #expect("\(error)".contains("127.0.0.1:\(scene.proxy.port)"))
        }
    }

    @Test(arguments: schemes) func `a tunnel is shared by nobody with other credentials`(scheme: String) async throws {
        try await ProxyStage.with(scheme) { (scene: ProxyStage) async throws in
            func via(_ user: String?) -> HTTPSession.Options {
                .init(proxy: .url(scene.proxy.url(scheme, user: user, password: "x")))
            }
            var connections: [UInt64?] = []
            for options in [via("a"), via("b"), via(nil), via("a"), via("b"), HTTPSession.Options(proxy: .none)] {
                connections.append(try await scene.get(options).metrics.hops.last?.connection)
            }
            #expect(connections[0] == connections[3] && connections[1] == connections[4])
            #expect(Set(connections).count == 4 && scene.proxy.connectionCount == 3)
        }
    }

    @Test func `a closure chooses for each request, and exceptions go straight`() async throws {
        let asked = Mutex<[String]>([])
        let proxy = try LoopbackProxy()
        defer { proxy.stop() }
        let url = proxy.url()
        try await ProxyStage.with(configure: {
            $0.proxy = .by { target in
                asked.withLock { $0.append(target.path) }
                return target.path == "/through" ? .url(url) : .none
            }
        }) { (scene: ProxyStage) async throws in
            for path in ["/through", "/direct", "/through"] {
                let response = try await scene.session.get(.url(scene.named + path), as: .string)
                #expect((response.metrics.hops.last?.proxy != nil) == (path == "/through"))
            }
            #expect(asked.withLock(\.self) == ["/through", "/direct", "/through"])
            var excepted = HTTPSession.Options(proxy: .url(url, except: "localhost"))
            excepted.fields = ["Proxy-Authorization": "hush"]
            let response = try await scene.session.get(.url(scene.named + "/"), options: excepted, as: .string)
            #expect(response.metrics.hops.last?.proxy == nil)
            // What is meant for a proxy goes to no origin.
            #expect(scene.server.requests.last?.fields.contains("proxy-authorization") == false)
        }
    }

    @Test(arguments: schemes + ["https"], [true, false])
    func `the error and the hop of a proxy that cannot be reached name it`(scheme: String, hasName: Bool) async throws {
        let port = try HeldPort()
        defer { port.release() }
        let url = "\(scheme)://\(hasName ? "localhost" : "127.0.0.1"):\(port.number)"
        try await Stage.with(configure: { $0.proxy = .url(url) }) { (stage: Stage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .connectionFailed && error.reason.contains(url))
            #expect(error.hop?.proxy == url && error.hop?.peer.map { "\($0)".hasSuffix(":\(port.number)") } == true)
            #expect(error.hop?.duration(of: .connect) != nil)
            #expect(error.hop?.ended != error.hop?.started)
        }
    }

    @Test func `the hop of a proxy whose name has no address names it`() async throws {
        try await Stage.with {
            $0.proxy = .url("http://nowhere.invalid:3128")
            $0.resolver = FixedResolver(addresses: [])
        } _: { (stage: Stage) async throws in
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .nameNotResolved && error.hop?.proxy == "http://nowhere.invalid:3128")
            #expect(error.hop?.peer == nil && error.hop?.duration(of: .resolve) != nil)
        }
    }

    @Test func `an answer that comes a byte at a time is an answer`() async throws {
        for scheme in Self.schemes {
            try await ProxyStage.with(scheme) { (scene: ProxyStage) async throws in
                scene.proxy.enqueue(.drip)
                #expect(try await scene.get().value == "from the origin")
            }
        }
    }

    @Test(arguments: schemes) func `a proxy that ends or resets anywhere in its answer is an error, and no more`(
        scheme: String
    ) async throws {
        try await ProxyStage.with(scheme, configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            let answer = scheme == "http" ? "HTTP/1.1 200 Connection established\r\n\r\n".utf8.count : 10
            for count in 0..<answer {
                for fault in [LoopbackProxy.Fault.close(after: count), .reset(after: count)] {
                    scene.proxy.enqueue(fault)
                    let error = try await scene.failure()
                    // In absolute form the proxy's end is the exchange's.
                    let expected: NetworkError.Code =
                        Stage.isSecure || scheme != "http" ? .proxyFailed : .connectionClosed
                    #expect(error.code == expected, "\(error)")
                }
            }
            #expect(try await scene.get().value == "from the origin")
        }
    }

    @Test(arguments: ["http", "socks5h"]) func `a proxy that says nothing more runs into a limit of its own`(
        scheme: String
    ) async throws {
        guard Stage.isSecure || scheme != "http" else { return }
        let clock = ManualClock()
        try await ProxyStage.with(scheme, clock: clock, configure: { $0.timeouts.tunnel = .seconds(5) }) {
            (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.stall(after: 5))
            let request = Task { try await scene.failure() }
            try await scene.stage.eventually("the proxy was asked") { scene.proxy.visits.count == 1 }
            let session = scene.session
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(6), until: "it ends") { await session.tasks.count == 0 }
            let error = try await request.value
            #expect(error.code == .timedOut && error.phase == .tunnel && error.exceeded == .tunnel, "\(error)")
            #expect(
                !error.requestMayHaveBeenSent && "\(error)".contains("timed out waiting for a tunnel through the proxy")
            )
        }
    }

    @Test(arguments: schemes) func `a request is cancelled while the proxy thinks`(scheme: String) async throws {
        try await ProxyStage.with(scheme) { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.stall(after: 3))
            let request = Task { try await scene.get() }
            try await scene.stage.eventually("the proxy was asked") { scene.proxy.visits.count == 1 }
            request.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
            try await scene.stage.eventually("the proxy is left") { scene.proxy.openConnections == 0 }
            #expect(try await scene.get().value == "from the origin")
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `What proxies say to CONNECT` {
    private static func secure(
        user: String? = nil, password: String = "", sending: (String, String)? = nil,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (ProxyStage) async throws -> Void
    ) async throws {
        try await Stage.$isSecure.withValue(true) {
            try await ProxyStage.with(
                user: user, password: password, sending: sending, configure: configure, play)
        }
    }

    @Test(arguments: [403, 502, 504, 302, 200_101])
    func `a refusal is the proxy's, with its status and the beginning of its body`(code: Int) async throws {
        try await Self.secure(configure: {
            $0.retry = .constant(attempts: 3, every: .zero, when: .transient)
        }) { (scene: ProxyStage) async throws in
            let status = code > 999 ? 101 : code
            let said =
                "HTTP/1.1 \(status) No\r\nLocation: https://evil.test/\r\nSet-Cookie: a=b\r\n"
                + "Content-Type: text/plain\r\nContent-Length: 9\r\n\r\nyou shall"
            for _ in 1...3 { scene.proxy.enqueue(.sayAndClose(Bytes(said))) }
            let error = try await scene.failure()
            #expect(error.code == .proxyFailed && error.phase == .tunnel, "\(error)")
            #expect(!error.requestMayHaveBeenSent && scene.server.requests.isEmpty)
            if status == 101 { return }
            #expect(error.response?.status.code == Int(status) && error.body == "you shall", "\(error)")
            #expect("\(error)".contains("the proxy answered CONNECT with \(status)"))
            #expect(error.attempts == (status >= 500 ? 3 : 1))
        }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 200 OK\r\nbad field\r\n\r\n", "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 403 No\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ])
    func `an answer that is not HTTP is an error of the proxy`(said: String) async throws {
        try await Self.secure { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.sayAndClose(Bytes(said)))
            #expect(try await scene.failure().code == .proxyFailed)
            #expect(try await scene.get().value == "from the origin")
        }
    }

    @Test func `interim answers are passed over, and what follows the last one is the tunnel's`() async throws {
        try await Self.secure { (scene: ProxyStage) async throws in
            // What no TLS server says first.
            scene.proxy.enqueue(.add("HTTP/1.1 200 OK\r\n\r\n"))
            let error = try await scene.failure()
            #expect(error.code == .secureConnectionFailed && error.phase == .tls, "\(error)")
        }
    }

    @Test(.rules("9110-15.5.8-1"), arguments: [true, false])
    func `a 407 is answered by Digest, over this connection or another`(
        isKept: Bool
    ) async throws {
        try await Self.secure(sending: ("ada", "pw")) { (scene: ProxyStage) async throws in
            let ask =
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", "
                + "algorithm=SHA-256\r\n" + (isKept ? "" : "Connection: close\r\n")
                + "Content-Length: 4\r\n\r\nwho?"
            scene.proxy.enqueue(isKept ? .say(Bytes(ask)) : .sayAndClose(Bytes(ask)))
            // The tunnel that the proxy opens at first is closed by what it says instead.
            let response = try await scene.get()
            #expect(response.value == "from the origin")
            let said = scene.proxy.visits.map(\.said)
            #expect(said.count == 2 && said[0].contains("Proxy-Authorization: Basic "))
            #expect(said[1].contains("Proxy-Authorization: Digest ") && said[1].contains("nc=00000001"))
            #expect(said[1].contains("uri=\"127.0.0.1:\(scene.server.port)\""))
            #expect(scene.proxy.connectionCount == (isKept ? 1 : 2))
            // Another tunnel goes with the nonce that is known by now.
            _ = try await scene.get(.init(guard: .value(Self.loopback)))
            #expect(scene.proxy.visits.last?.said.contains("nc=00000002") == true)
        }
    }

    private static var loopback: HTTPSession.Guard {
        var rules = HTTPSession.Guard.nothing
        rules.allowedAddresses = ["127.0.0.1"]
        return rules
    }

    @Test func `a proxy that asks without end is refused`() async throws {
        try await Self.secure(sending: ("ada", "pw")) { (scene: ProxyStage) async throws in
            for count in 1...9 {
                let ask =
                    "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"\(count)\", "
                    + "stale=true, qop=\"auth\"\r\nContent-Length: 0\r\n\r\n"
                scene.proxy.enqueue(.say(Bytes(ask)))
            }
            #expect(try await scene.failure().code == .proxyAuthenticationFailed)
            #expect(scene.proxy.visits.count <= 6)
        }
    }

    @Test func `a 407 with a body without end is not read to it`() async throws {
        try await Self.secure(sending: ("ada", "pw")) { (scene: ProxyStage) async throws in
            let ask =
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n"
                + "Content-Length: 10000000000\r\n\r\n" + String(repeating: "x", count: 100_000)
            scene.proxy.enqueue(.say(Bytes(ask)))
            #expect(try await scene.get().value == "from the origin")
            #expect(scene.proxy.connectionCount == 2)
        }
    }

    @Test func `a SOCKS proxy that forbids one address of a name is asked for the next`() async throws {
        if Stage.isSecure { return }
        try await ProxyStage.with(
            "socks5",
            configure: {
                let port = $0.baseURL?.split(separator: ":").last.flatMap { UInt16($0.prefix { $0 != "/" }) } ?? 0
                $0.resolver = FixedResolver(addresses: [.v6(0, 1, port: port), .v4(0x7F00_0001, port: port)])
            }
        ) { (scene: ProxyStage) async throws in
            scene.proxy.enqueue(.sayAndClose(Bytes([5, 2, 0, 1, 0, 0, 0, 0, 0, 0])))
            let url = "http://two.test:\(scene.server.port)/"
            #expect(try await scene.session.get(.url(url), as: .string).value == "from the origin")
            #expect(scene.proxy.visits.count == 2)
        }
    }
}
