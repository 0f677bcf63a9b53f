import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// What becomes of the rounds in which a proxy asks who sends a request.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Rounds with a proxy that asks` {
    private static let digest =
        "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"loopback\", nonce=\"nonce-0\", qop=\"auth\", "
        + "algorithm=SHA-256\r\n"

    private static func with(
        sending: (String, String) = ("ada", "pw"), configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (ProxyStage) async throws -> Void
    ) async throws {
        try await ProxyStage.with(
            user: "ada", password: "pw", sending: sending, login: .digest(), configure: configure, play)
    }

    /// What comes behind the head of a challenge, and how much of it is the body.
    private static let bodies: [(String, String)] = [
        ("Content-Length: 9\r\n\r\nyou shall", "you shall"), ("Connection: close\r\n\r\nyou shall", "you shall"),
        ("Transfer-Encoding: chunked\r\n\r\n4\r\nyou \r\n5\r\nshall\r\n0\r\n\r\n", "you shall"),
        ("Content-Length: 90\r\n\r\nyou shall", "you shall"),
        ("Content-Length: 9000\r\n\r\n" + String(repeating: "x", count: 9000), String(repeating: "x", count: 4096)),
        ("Content-Length: 0\r\n\r\n", ""),
    ]

    @Test(arguments: bodies, [true, false])
    func `the error of a challenge that nobody answers has the beginning of its body`(
        example: (framed: String, body: String), hasPassword: Bool
    ) async throws {
        try await ProxyStage.with(sending: hasPassword ? ("ada", "pw") : nil) { (scene: ProxyStage) async throws in
            // With a password the second challenge is one too many.
            let asked = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"r\"\r\n" + example.framed
            scene.proxy.enqueue(.sayAndClose(Bytes(asked)))
            let error = try await scene.failure()
            #expect(error.code == .proxyAuthenticationFailed && error.response?.status.code == 407, "\(error)")
            #expect(error.body == Bytes(example.body))
            // What a test has this proxy say instead of an answer comes after it has forwarded the request.
            if Stage.isSecure { #expect(scene.server.requests.isEmpty) }
        }
    }

    @Test(arguments: [0, 10, 300_000])
    func `a POST is sent again though the proxy closes behind its challenge and has not said so`(
        count: Int
    ) async throws {
        for _ in 0..<5 {
            try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
                scene.proxy.enqueue(.sayAndClose(Bytes(Self.digest + "Content-Length: 0\r\n\r\n")))
                let body = RequestBody.bytes(LoopbackServer.GeneratedBody.bytes(0..<count))
                #expect(try await scene.session.post("up", body: body, as: .string).value == "from the origin")
                #expect(scene.server.requests.map(\.bodyCount) == [count])
                #expect(scene.proxy.connectionCount == 2)
            }
        }
    }

    @Test func `each round in which a proxy reads a request is a hop of its metrics`() async throws {
        try await Self.with { (scene: ProxyStage) async throws in
            let hops = try await scene.get().metrics.hops
            guard !Stage.isSecure else {
                // CONNECT is a phase of the one hop.
                #expect(hops.count == 1 && hops[0].duration(of: .tunnel) != nil)
                return
            }
            #expect(hops.count == 2 && hops.allSatisfy { $0.proxy == scene.proxy.url() && $0.bytesReceived > 0 })
            #expect(hops[0].duration(of: .connect) != nil && hops[0].ended <= hops[1].started)
            #expect(try await scene.get().metrics.hops.count == 1, "by now nobody has to ask")
        }
    }

    @Test(arguments: [0, 1, 2])
    func `the rounds before a failure are in its metrics, and interceptors change nothing of that`(
        index: Int
    ) async throws {
        if Stage.isSecure { return }
        let interceptors: [HTTPSession.Interception] = [
            .exchange { request, next in try await next(request) }, .call { request, next in try await next(request) },
        ]
        let counts = Mutex<[Int]>([])
        try await Self.with(sending: ("ada", "falsch")) {
            if index > 0 { $0.interceptors = [interceptors[index - 1]] }
            $0.hooks.completed = { completion in counts.withLock { $0.append(completion.metrics.hops.count) } }
        } _: { (scene: ProxyStage) async throws in
            #expect(try await scene.failure().code == .proxyAuthenticationFailed)
            #expect(scene.proxy.visits.count == 2 && counts.withLock { $0 } == [2])
        }
    }

    @Test(arguments: [LoopbackProxy.Fault.reset(after: 3), .sayAndClose("HTTP/1.1 502 Bad Gateway\r\n\r\n")])
    func `the error of a new tunnel also says what went through the old one`(fault: LoopbackProxy.Fault) async throws {
        guard Stage.isSecure else { return }
        let hops = Mutex<[HTTP.Hop]>([])
        try await ProxyStage.with(configure: {
            $0.retry = .never
            $0.hooks.metrics = { _, metrics in hops.withLock { $0 = metrics.hops } }
        }) { (scene: ProxyStage) async throws in
            #expect(try await scene.get().value == "from the origin")
            scene.server.enqueue([.close])
            scene.proxy.enqueue(fault)
            let error = try await scene.failure()
            #expect(error.code == .proxyFailed && error.phase == .tunnel, "\(error)")
            #expect(error.requestMayHaveBeenSent && error.isSafeToRetry)
            #expect(scene.server.requests.count == 2)
            let sent = hops.withLock { $0.map { $0.bytesSent > 0 } }
            #expect(sent == [true, false], "only the first hop's connection took the request")
        }
    }
}

/// What CONNECT says beside host and port.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Fields for CONNECT` {
    private static func with(
        _ fields: Fields, user: String? = nil, login: LoopbackProxy.Login = .basic,
        _ play: (LoopbackProxy, Stage) async throws -> Void
    ) async throws {
        let proxy = try LoopbackProxy(user: user, password: "pw", login: login)
        defer { proxy.stop() }
        let url = proxy.url(user: user, password: "pw")
        try await Stage.with(tolerating: true, configure: { $0.proxy = .url(url, connectFields: fields) }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "from the origin") }
            try await play(proxy, stage)
        }
    }

    @Test(arguments: [nil, "ada"])
    func `the fields that settings say are said in each CONNECT, and nowhere else`(user: String?) async throws {
        let fields: Fields = ["X-Tenant": "seven", "User-Agent": "mine", "X-Api-Token": "hush"]
        try await Self.with(fields, user: user, login: .digest()) { (proxy: LoopbackProxy, stage: Stage) async throws in
            #expect(try await stage.session.get("x", as: .string).value == "from the origin")
            #expect(proxy.visits.count == (user == nil ? 1 : 2))
            for visit in proxy.visits {
                for (name, value) in [("X-Tenant", "seven"), ("User-Agent", "mine"), ("X-Api-Token", "hush")] {
                    let isSaid = visit.said.contains("\r\n\(name): \(value)\r\n")
                    #expect(isSaid == Stage.isSecure, "\(visit.said)")
                }
            }
            let request = try #require(stage.server.requests.first)
            #expect(!request.fields.contains("x-tenant") && !request.fields.contains("x-api-token"))
            #expect(!"\(stage.session.configuration)".contains("hush"))
        }
    }

    @Test func `a tunnel is shared by nobody who would ask for it with other fields`() async throws {
        if !Stage.isSecure { return }
        try await Self.with(["X-Tenant": "a"]) { (proxy: LoopbackProxy, stage: Stage) async throws in
            func connection(_ tenant: String) async throws -> UInt64? {
                let options = HTTPSession.Options(proxy: .url(proxy.url(), connectFields: ["X-Tenant": tenant]))
                return try await stage.session.get("x", options: options, as: .bytes).metrics.hops.last?.connection
            }
            let connections = [try await connection("a"), try await connection("b"), try await connection("a")]
            #expect(connections[0] == connections[2] && connections[0] != connections[1])
            #expect(try await stage.session.get("x", as: .bytes).metrics.hops.last?.connection == connections[0])
        }
    }

    static let refused: [(String, Fields)] = [
        ("socks5", ["X-Tenant": "a"]), ("socks5h", ["X-Tenant": "a"]), ("http", ["Host": "other.test"]),
        ("http", ["Proxy-Authorization": "Basic eDp5"]), ("http", ["Content-Length": "5"]),
        ("https", ["Transfer-Encoding": "chunked"]), ("http", ["X Tenant": "a"]), ("http", ["X-Tenant": "a\r\nB: c"]),
    ]

    @Test(arguments: refused)
    func `fields that CONNECT cannot have are refused when the session is made`(scheme: String, fields: Fields) throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        configuration.proxy = .url("\(scheme)://127.0.0.1:1", connectFields: fields)
        let error = #expect(throws: NetworkError.self) { _ = try HTTPSession(configuration) }
        #expect(error?.code == .invalidConfiguration && error?.reason.contains("proxy") == true)
    }

    @Test func `a command for curl has them, and their secrets where those are asked for`() async throws {
        try await Self.with(["X-Tenant": "seven", "X-Api-Token": "hush"]) {
            (proxy: LoopbackProxy, stage: Stage) async throws in
            let task = try stage.session.task("x", as: .bytes)
            let command = task.curl()
            #expect(command.contains("--proxy-header 'X-Tenant: seven'") == Stage.isSecure, "\(command)")
            #expect(task.curl(showingSecrets: true).contains("hush") == Stage.isSecure)
            task.cancel()
            #expect(!command.contains("hush"))
        }
    }
}
