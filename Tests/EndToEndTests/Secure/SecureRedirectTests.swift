import Dunlin
import DunlinTesting
import LedgerRows
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `Redirects in and out of TLS` {
    private static func clearServer(_ location: String = "") throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.route(.get, "/to", .response(body: "in clear"))
        server.route(.get, "/from", .response(302, fields: ["Location": location]))
        return server
    }

    @Test(.rules("9110-4.2.2-1"), arguments: [false, true])
    func `a redirect leads out of TLS only if the policy says so`(isAllowed: Bool) async throws {
        let clear = try Self.clearServer()
        defer { clear.stop() }
        try await SecureStage.with(configure: { configuration, _ in
            configuration.redirects.allowsHTTPSToHTTP = isAllowed
            configuration.credentials = .bearer(token: "t")
        }) { (stage: SecureStage) async throws in
            stage.server.route(.get, "/from", .response(302, fields: ["Location": "\(clear.baseURL)/to"]))
            let options = HTTPSession.Options(fields: ["Referer": "https://x/secret", "Cookie": "c"])
            if isAllowed {
                let response = try await stage.session.get("from", options: options, as: .string)
                #expect(response.value == "in clear")
                #expect(response.metrics.hops.map { $0.security != nil } == [true, false])
                let sent = try #require(clear.requests.first)
                for name in ["Authorization", "Referer", "Cookie"] { #expect(!sent.fields.contains(name)) }
            } else {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.get("from", options: options, as: .string)
                }
                #expect(error.code == .insecureRedirect)
                #expect(clear.requests.isEmpty)
            }
            #expect(stage.server.requests.first?.fields["Authorization"] == "Bearer t")
        }
    }

    @Test func `a redirect can lead into TLS`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            stage.server.route(.get, "/to", .response(body: "secure"))
            let clear = try Self.clearServer("\(stage.server.baseURL)/to")
            defer { clear.stop() }
            let url = clear.baseURL + "/from"
            let response = try await stage.session.get(HTTP.Target(url), as: .string)
            #expect(response.value == "secure")
            #expect(response.url == "\(stage.server.baseURL)/to")
            #expect(response.metrics.hops.map { $0.security != nil } == [false, true])
        }
    }

    @Test(.rows("HS-17")) func `a redirect never leads a session with pins out of TLS`() async throws {
        let clear = try Self.clearServer()
        defer { clear.stop() }
        try await SecureStage.with(configure: { configuration, cast in
            configuration.redirects.allowsHTTPSToHTTP = true
            configuration.tls.policy = SecurityPolicy(
                mode: .publicKey, pins: [try .init(cast.issued.pin)])
        }) { (stage: SecureStage) async throws in
            stage.server.route(.get, "/from", .response(302, fields: ["Location": "\(clear.baseURL)/to"]))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("from", as: .string) }
            #expect(error.code == .clearTextRefused)
            #expect(clear.requests.isEmpty)
        }
    }

    /// The request's own authentication handler goes along, and is told whom it is asked about.
    @Test func `a redirect asks the request's hook about each server`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            let stranger = try LoopbackServer(tls: .init(try CertificateAuthority().issue(.server("127.0.0.1"))))
            defer { stranger.stop() }
            stranger.route(.get, "/to", .response(body: "stranger"))
            stage.server.route(.get, "/from", .response(302, fields: ["Location": "\(stranger.baseURL)/to"]))
            let asked = Mutex<[String]>([])
            var options = HTTPSession.Options()
            options.authenticationHandler = { challenge in
                asked.withLock { $0.append(challenge.origin.description) }
                return .useCredential(.trustDespiteRefusal)
            }
            let response = try await stage.session.get("from", options: options, as: .string)
            #expect(response.value == "stranger")
            #expect(asked.withLock { $0 } == [stage.server.baseURL, stranger.baseURL])
            let error = try await NetworkError.thrown { _ = try await stage.session.get("from", as: .string) }
            #expect(error.code == .serverTrustFailed)
        }
    }
}
