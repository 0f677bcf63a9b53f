import Dunlin
import DunlinSecure
import DunlinTesting
import DunlinTypes
import Testing

/// What the proxy checks it has computed by itself.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Proxies that ask by Digest` {
    private static func with(
        uses: Int = .max, sending: (String, String)? = nil,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (ProxyStage) async throws -> Void
    ) async throws {
        try await ProxyStage.with(
            user: "ada", password: "open sesame", sending: sending ?? ("ada", "open%20sesame"),
            login: .digest(nonceUses: uses), configure: configure, play)
        guard sending == nil else { return }
        // The user name is in the session's URL, as it stands.
        try await ProxyStage.overTLS(
            user: "ada", password: "pw", login: .digest(nonceUses: uses), configure: configure, play)
    }

    private static func counts(_ scene: ProxyStage) -> [String] {
        scene.proxy.visits.compactMap { visit in
            visit.said.split(separator: "nc=").dropFirst().first.map { String($0.prefix(8)) }
        }
    }

    @Test func `the right password is believed, and each answer to a nonce counts one on`() async throws {
        try await Self.with { (scene: ProxyStage) async throws in
            for count in 1...3 {
                // Another guard needs another tunnel.
                var rules = HTTPSession.Guard.nothing
                rules.allowedAddresses = ["127.0.0.1", "10.0.0.\(count)"]
                #expect(try await scene.get(.init(guard: .value(rules))).value == "from the origin")
            }
            #expect(Self.counts(scene) == ["00000001", "00000002", "00000003"])
            #expect(scene.proxy.visits.count == 4 && scene.proxy.connectionCount == 3)
            #expect(scene.server.requests.count == 3)
            #expect(scene.server.requests.allSatisfy { !"\($0.fields)".lowercased().contains("proxy-auth") })
        }
    }

    @Test func `a wrong password is an error, is asked about once, and is not shown`() async throws {
        try await Self.with(sending: ("ada", "falsch")) { (scene: ProxyStage) async throws in
            let error = try await scene.failure()
            #expect(error.code == .proxyAuthenticationFailed, "\(error)")
            #expect(error.response?.status == .proxyAuthenticationRequired)
            #expect(!"\(error)".contains("falsch") && error.peer?.contains("127.0.0.1:\(scene.proxy.port)") == true)
            #expect(scene.proxy.visits.count == 2 && scene.server.requests.isEmpty)
        }
    }

    @Test func `a nonce that is stale is replaced by the one that comes with the news`() async throws {
        try await Self.with(uses: 2) { (scene: ProxyStage) async throws in
            for count in 1...5 {
                var rules = HTTPSession.Guard.nothing
                rules.allowedAddresses = ["127.0.0.1", "10.0.0.\(count)"]
                #expect(try await scene.get(.init(guard: .value(rules))).value == "from the origin")
            }
            #expect(scene.server.requests.count == 5)
            #expect(scene.proxy.visits.count == 1 + 5 + 2)
        }
    }

    @Test func `each of many tunnels counts its nonces by itself`() async throws {
        try await Self.with(configure: { $0.connections.perOrigin = 8 }) { (scene: ProxyStage) async throws in
            try await scene.expectHealthy()
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 1...24 { group.addTask { try await scene.get().value } }
                for try await value in group { #expect(value == "from the origin") }
            }
            let counts = Self.counts(scene)
            #expect(Set(counts).count == counts.count && scene.proxy.visits.count == counts.count + 1)
        }
    }

    @Test(arguments: [0, 1, 2, 3]) func `a body is sent once more when the proxy asks who sends it, if it can be`(
        index: Int
    ) async throws {
        let count = 300_000
        try await Self.with { (scene: ProxyStage) async throws in
            let bodies: [RequestBody] = [
                .bytes("small"), .bytes(LoopbackServer.GeneratedBody.bytes(0..<count)),
                .stream(UploadPieces(total: count), length: count), .stream(UploadPieces(total: count)),
            ]
            let body = bodies[index]
            let isSentTwice = index < 2 || Stage.isSecure
            if isSentTwice {
                _ = try await scene.session.post("up", body: body, as: .bytes)
                #expect(scene.server.requests.map(\.bodyCount) == [index == 0 ? 5 : count])
            } else {
                // A stream can be opened again, unless it says otherwise.
                do {
                    _ = try await scene.session.post("up", body: body, as: .bytes)
                    #expect(scene.server.requests.map(\.bodyCount) == [count])
                } catch let error as NetworkError {
                    #expect(error.code == .proxyAuthenticationFailed, "\(error)")
                    #expect(scene.server.requests.isEmpty)
                }
            }
            // From now on nobody needs to ask.
            _ = try await scene.session.post("up", body: .bytes("small"), as: .bytes)
            #expect(scene.server.requests.last?.bodyCount == 5)
        }
    }

    @Test func `a body that the origin waits for is kept back from a proxy that asks`() async throws {
        try await Self.with { (scene: ProxyStage) async throws in
            let options = HTTPSession.Options(expectsContinue: true, continueTimeout: .seconds(600))
            let body = RequestBody.bytes(LoopbackServer.GeneratedBody.bytes(0..<100_000))
            let response = try await scene.session.put("up", body: body, options: options, as: .bytes)
            #expect(response.interim.map(\.status) == [.continue])
            #expect(scene.server.requests.map(\.bodyCount) == [100_000])
        }
    }

    /// The loop is reached in less time than the hash takes. On a busy machine others may have the processor meanwhile,
    /// so one try of several has to show it.
    @Test(arguments: [10, 128 << 20]) func `a body that a proxy wants protected is hashed beside the loop`(
        count: Int
    ) async throws {
        // In a tunnel the proxy knows of no body.
        if Stage.isSecure { return }
        let body = Bytes([UInt8](repeating: 7, count: count))
        var attempts: [String] = []
        repeat {
            let begun = ContinuousClock.now
            let hash = try HashFunction.md5.hash(of: body).hex
            let hashing = begun.duration(to: .now)
            var longest = Duration.zero
            try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
                longest = max(longest, try await Self.longestWait(for: body, hash, scene))
            }
            if count == 10 || longest < hashing / 2 { return }
            attempts.append("\(longest) of \(hashing)")
        } while attempts.count < 10
        Issue.record("the loop stood still: \(attempts)")
    }

    /// How long the loop was not to be reached while this body was sent to a proxy that wants it protected.
    private static func longestWait(for body: Bytes, _ hash: String, _ scene: ProxyStage) async throws -> Duration {
        let ask = "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth-int\"\r\n"
        scene.proxy.enqueue(
            .say(Bytes(ask + "Content-Length: 0\r\n\r\n")),
            .sayAndClose("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin"))
        // The body itself is kept back.
        let options = HTTPSession.Options(expectsContinue: true, continueTimeout: .seconds(600))
        async let answer = scene.session.put("up", body: .bytes(body), options: options, as: .string).value
        try await eventually("the proxy asks") { scene.proxy.visits.count > 0 }
        var longest = Duration.zero
        while scene.proxy.visits.count == 1 {
            let asked = ContinuousClock.now
            let reached = try await scene.session.onEventLoop { ContinuousClock.now }
            longest = max(longest, asked.duration(to: reached))
        }
        #expect(try await answer == "in")
        let last = try #require(scene.proxy.visits.last)
        let proofs = try ["open sesame", "pw"].map { try response(in: last, "ada:r:\($0)", "PUT", hash) }
        #expect(proofs.contains(parameter("response", last)))
        return longest
    }

    private static func parameter(_ name: String, _ visit: LoopbackProxy.Visit) -> String {
        visit.said.split(separator: "\(name)=").dropFirst().first.map {
            String($0.prefix { $0 != "," && !$0.isNewline }.filter { $0 != "\"" })
        } ?? ""
    }

    /// What proves the password and the body (RFC 7616 §3.4).
    private static func response(
        in visit: LoopbackProxy.Visit, _ user: String, _ method: String, _ bodyHash: String
    ) throws -> String {
        func hash(_ text: String) throws -> String { try HashFunction.md5.hash(of: Bytes(text)).hex }
        let use = "\(parameter("nc", visit)):\(parameter("cnonce", visit)):auth-int"
        return try hash("\(hash(user)):n:\(use):\(hash("\(method):\(parameter("uri", visit)):\(bodyHash)"))")
    }

    /// What comes behind the head of a challenge.
    private static let bodies = [
        "Content-Length: 0\r\n\r\n", "Content-Length: 100\r\n\r\nless",
        "Content-Length: 10\r\nConnection: close\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "Connection: close\r\n\r\nsomething",
        "Content-Length: 9999999\r\n\r\n" + String(repeating: "x", count: 200_000),
        "Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    ]

    @Test(arguments: bodies) func `a challenge is answered whatever its body does`(body: String) async throws {
        try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            let ask =
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"loopback\", nonce=\"nonce-0\", qop=\"auth\", "
                + "algorithm=SHA-256\r\n" + body
            scene.proxy.enqueue(.sayAndClose(Bytes(ask)))
            #expect(try await scene.get().value == "from the origin")
            #expect(scene.server.requests.count == 1)
        }
    }

    @Test func `a challenge whose framing is broken is answered elsewhere, or is an invalid response`() async throws {
        try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            let ask =
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"loopback\", nonce=\"nonce-0\", qop=\"auth\", "
                + "algorithm=SHA-256\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
            scene.proxy.enqueue(.say(Bytes(ask)))
            if Stage.isSecure {
                #expect(try await scene.get().value == "from the origin")
                #expect(scene.proxy.connectionCount == 2)
            } else {
                let error = try await scene.failure()
                #expect(error.code == .invalidResponse && scene.server.requests.isEmpty, "\(error)")
            }
        }
    }

    @Test func `a proxy that ends every connection behind its challenge is refused in the end`() async throws {
        try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            for count in 1...20 {
                let ask =
                    "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"loopback\", nonce=\"\(count)\", "
                    + "stale=true, qop=\"auth\"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
                scene.proxy.enqueue(.sayAndClose(Bytes(ask)))
            }
            #expect(try await scene.failure().code == .proxyAuthenticationFailed)
            #expect(scene.proxy.connectionCount <= 6 && scene.server.requests.isEmpty)
        }
    }

    @Test func `a challenge whose body stalls is answered over another connection`() async throws {
        // For a tunnel that wait is within its limit.
        if Stage.isSecure { return }
        try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            let ask =
                "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"loopback\", nonce=\"nonce-0\", qop=\"auth\", "
                + "algorithm=SHA-256\r\nContent-Length: 100\r\n\r\nless"
            scene.proxy.enqueue(.say(Bytes(ask)))
            #expect(try await scene.get().value == "from the origin")
            #expect(scene.proxy.connectionCount == 2)
        }
    }

    @Test func `a password that Digest proves wrong is not sent by Basic again`() async throws {
        try await Self.with(configure: { $0.retry = .never }) { (scene: ProxyStage) async throws in
            for _ in 1...6 {
                scene.proxy.enqueue(
                    .say(
                        Bytes(
                            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
                                + "Proxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n")))
            }
            #expect(try await scene.failure().code == .proxyAuthenticationFailed)
            let schemes = scene.proxy.visits.map { $0.said.contains("Authorization: Basic ") ? "Basic" : "Digest" }
            #expect(schemes == ["Basic", "Digest"])
        }
    }
}
