import Dunlin
import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

/// What may open a connection that speaks another protocol, and what is said on the way to it.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Who may open a WebSocket or an upgrade` {
    /// The two ways to ask for another protocol.
    enum Way: CaseIterable, Sendable {
        case webSocket, upgrade

        /// Opens one, and sends it there and back.
        func echo(_ session: HTTPSession, _ target: HTTP.Target, _ options: HTTPSession.Options = .init()) async throws
        {
            switch self {
            case .webSocket:
                try await session.withWebSocket(target, options: options) { socket in
                    try await socket.send("abc")
                    var messages = socket.messages.makeAsyncIterator()
                    #expect(try await messages.next() == .text("abc"))
                }
            case .upgrade:
                let connection = try await session.upgrade(target, to: "websocket", options: options)
                // A text of one letter, with a mask of zeros.
                let frame = Bytes([0x81, 0x81, 0, 0, 0, 0, 0x61])
                try await connection.write(frame)
                #expect(try await connection.read(count: 3) == Bytes([0x81, 0x01, 0x61]))
                connection.close()
            }
        }

        func failure(
            _ session: HTTPSession, _ target: HTTP.Target, _ options: HTTPSession.Options = .init()
        ) async throws -> NetworkError {
            try await NetworkError.thrown { try await echo(session, target, options) }
        }
    }

    private static func answer(_ server: LoopbackServer, fields: Fields = Fields()) {
        server.respond { .webSocket(answering: $0, fields: fields, .echoMessages) }
    }

    private static func scheme(_ way: Way) -> String {
        switch way {
        case .webSocket: Stage.isSecure ? "wss" : "ws"
        case .upgrade: Stage.isSecure ? "https" : "http"
        }
    }
}

// MARK: - The guard

extension `Who may open a WebSocket or an upgrade` {
    @Test(arguments: Way.allCases)
    func `the guard refuses a forbidden address before anything is connected`(way: Way) async throws {
        try await Stage.with(configure: { $0.guard = .publicInternet }) { (stage: Stage) async throws in
            Self.answer(stage.server)
            let scheme = Self.scheme(way)
            for host in ["127.0.0.1:\(stage.server.port)", "169.254.169.254", "[::ffff:10.0.0.1]", "[fd00::1]"] {
                let error = try await way.failure(stage.session, .url("\(scheme)://\(host)/chat"))
                #expect(error.code == .guardRefused && !error.requestMayHaveBeenSent, "\(error)")
            }
            let relative = try await way.failure(stage.session, "chat")
            #expect(relative.code == .guardRefused && relative.reason.contains("127.0.0.1 is a loopback address"))
            #expect(stage.server.connectionCount == 0)
        }
    }

    @Test(arguments: Way.allCases, ["http", "socks5"])
    func `a proxy leads an upgrade to no address that the guard refuses`(way: Way, scheme: String) async throws {
        var rules = HTTPSession.Guard.publicInternet
        rules.allowedProxyAddresses = ["127.0.0.1"]
        try await ProxyStage.with(scheme, configure: { [rules] in $0.guard = rules }) {
            (scene: ProxyStage) async throws in
            Self.answer(scene.server)
            let error = try await way.failure(scene.session, "chat")
            #expect(error.code == .guardRefused && error.reason.contains("127.0.0.1 is a loopback"), "\(error)")
            var allowing = rules
            allowing.allowedAddresses = ["127.0.0.1"]
            try await way.echo(scene.session, "chat", .init(guard: .value(allowing)))
            // The proxy itself is judged as well.
            allowing.allowedProxyAddresses = []
            allowing.allowedAddresses = []
            let refused = try await way.failure(scene.session, "chat", .init(guard: .value(allowing)))
            #expect(refused.code == .guardRefused, "\(refused)")
            #expect(scene.proxy.visits.count == 1 && scene.server.connectionCount == 1)
        }
    }

    @Test(arguments: Way.allCases)
    func `a redirect of an upgrade leads nowhere, and that of a socket nowhere that the guard refuses`(
        way: Way
    ) async throws {
        try await Stage.with { (stage: Stage) async throws in
            let other = try Stage.makeServer()
            defer { other.stop() }
            let away = "\(Self.scheme(way))://127.0.0.1:\(other.port)/"
            stage.server.respond { _ in .response(.temporaryRedirect, fields: ["Location": away]) }
            var rules = HTTPSession.Guard.publicInternet
            rules.allowedAddresses = ["127.0.0.1"]
            if way == .webSocket { rules.ports = [UInt16(stage.server.port)] }
            let error = try await way.failure(stage.session, "chat", .init(guard: .value(rules)))
            #expect(error.code == (way == .upgrade ? .upgradeRefused : .guardRefused), "\(error)")
            #expect(other.connectionCount == 0)
        }
    }
}

// MARK: - Trust

@Suite(.timeLimit(.minutes(10)))
struct `Pins and upgrades` {
    typealias Way = `Who may open a WebSocket or an upgrade`.Way

    @Test(.rules("6455-4.1-5", "6455-10.6-1"), arguments: Way.allCases, [true, false])
    func `a server without the pinned key is told nothing of an upgrade`(way: Way, isTunnelled: Bool) async throws {
        let proxy = try LoopbackProxy()
        defer { proxy.stop() }
        let other = try CertificateAuthority().certificate.pin
        try await SecureStage.with(
            tolerating: true,
            configure: { configuration, _ in
                if isTunnelled { configuration.proxy = .url(proxy.url()) }
                configuration.tls.policy = try SecurityPolicy(mode: .publicKey, pins: [.init(other)])
            }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { .webSocket(answering: $0, .echoMessages) }
            let error = try await way.failure(stage.session, "chat")
            #expect(error.code == .serverTrustFailed && error.phase == .tls, "\(error)")
            #expect(error.reason.contains("pin mismatch") && !error.requestMayHaveBeenSent, "\(error)")
            #expect(stage.server.requests.isEmpty && proxy.visits.count == (isTunnelled ? 1 : 0))
            // With the right one it opens.
            var tls = stage.session.tls
            tls.policy = try SecurityPolicy(mode: .publicKey, pins: [.init(stage.cast.issued.pin)])
            try stage.session.replace(tls: tls)
            try await way.echo(stage.session, "chat")
        }
    }

    @Test(arguments: Way.allCases)
    func `a session that pins opens no upgrade in clear text`(way: Way) async throws {
        let clear = try LoopbackServer()
        defer { clear.stop() }
        clear.respond { .webSocket(answering: $0, .echoMessages) }
        try await SecureStage.with(
            configure: { configuration, cast in
                configuration.tls.policy = try SecurityPolicy(mode: .publicKey, pins: [.init(cast.issued.pin)])
            }
        ) { (stage: SecureStage) async throws in
            let scheme = way == .webSocket ? "ws" : "http"
            let error = try await way.failure(stage.session, .url("\(scheme)://127.0.0.1:\(clear.port)/"))
            #expect(error.code == .clearTextRefused && !error.requestMayHaveBeenSent, "\(error)")
            #expect(clear.connectionCount == 0)
        }
    }
}

// MARK: - Proxies

extension `Who may open a WebSocket or an upgrade` {
    @Test(arguments: Way.allCases, ["http", "socks5", "socks5h"])
    func `neither the proxy nor the origin learns the other's secrets`(way: Way, scheme: String) async throws {
        let jar = CookieJar()
        try await ProxyStage.with(
            scheme, user: "ada", password: "pw",
            configure: {
                $0.cookies = jar
                $0.credentials = .bearer(token: "hush")
            }
        ) { (scene: ProxyStage) async throws in
            Self.answer(scene.server, fields: ["Set-Cookie": "a=hush"])
            var options = HTTPSession.Options()
            options.fields = ["X-Mine": "hush", "Proxy-Authorization": "Basic hush", "Proxy-Connection": "keep-alive"]
            for _ in 0..<2 { try await way.echo(scene.session, "chat?q=hush", options) }
            let requests = scene.server.requests
            #expect(requests.map { $0.fields["Authorization"] } == ["Bearer hush", "Bearer hush"])
            #expect(requests.map { $0.fields["Cookie"] } == [nil, "a=hush"])
            #expect(requests.allSatisfy { $0.fields["X-Mine"] == "hush" && $0.target == "/chat?q=hush" })
            #expect(requests.allSatisfy { !$0.fields.contains("Proxy-Authorization") })
            #expect(requests.allSatisfy { !$0.fields.contains("Proxy-Connection") })
            #expect(scene.proxy.visits.count == 2)
            for visit in scene.proxy.visits {
                #expect(visit.kind == (scheme == "http" ? .connect : .socks))
                #expect(!visit.said.contains("hush") && !visit.said.contains("WebSocket"))
                #expect(visit.target == "127.0.0.1:\(scene.server.port)")
            }
        }
    }

    @Test(.rules("6455-4.1-4"), arguments: Way.allCases)
    func `a proxy that allows no tunnel is not asked in another way`(way: Way) async throws {
        try await ProxyStage.with { (scene: ProxyStage) async throws in
            Self.answer(scene.server)
            scene.proxy.enqueue(
                .sayAndClose("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"),
                .sayAndClose("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"))
            for _ in 0..<2 {
                let error = try await way.failure(scene.session, "chat")
                #expect(error.code == .proxyFailed && !error.requestMayHaveBeenSent, "\(error)")
            }
            #expect(scene.proxy.visits.allSatisfy { $0.kind == .connect } && scene.server.requests.isEmpty)
            try await way.echo(scene.session, "chat")
        }
    }

    @Test(.rules("6455-4.1-4"), arguments: Way.allCases)
    func `a proxy's credentials that are refused are an error of their own for an upgrade`(way: Way) async throws {
        try await ProxyStage.with(user: "ada", password: "pw", sending: ("ada", "falsch")) {
            (scene: ProxyStage) async throws in
            let error = try await way.failure(scene.session, "chat")
            #expect(error.code == .proxyAuthenticationFailed, "\(error)")
            #expect(!"\(error)".contains("falsch") && scene.server.requests.isEmpty)
        }
    }
}
