import Dunlin
import DunlinTesting
import Synchronization
import Testing

private nonisolated struct Grant: Codable {
    var access_token: String
    var expires_in: Int
}

/// The snippets of the article about tokens.
@Suite(.timeLimit(.minutes(10))) struct `Tokens guide` {
    @Test func `a closure gets a token for all requests`() async throws {
        let transport = MockTransport()
        transport.on(.post, "/token").respond(json: Grant(access_token: "t1", expires_in: 60))
        transport.on(.get, "/v1/users/42").respond(json: User(id: 42, name: "Ada"))
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com/v1/", transport: transport)
        try configuration.use(ManualClock())
        configuration.authentication = .bearer { client in
            let grant = try await client.post(
                url: "https://login.example.com/token",
                body: .form(["grant_type": "client_credentials"]),
                as: Grant.self)
            return .init(
                grant.access_token, lifetime: .seconds(grant.expires_in))
        }
        let client = try HTTPSession(configuration)
        let user = try await client.get("users/42", as: User.self)
        #expect(user.name == "Ada")
        #expect(transport.requests.map { $0.fields["Authorization"] } == [nil, "Bearer t1"])
    }

    private static func client(_ transport: MockTransport) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com/v1/", transport: transport)
        let count = Mutex(0)
        configuration.authentication = .bearer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .init("t\(number)")
        }
        return try HTTPSession(configuration)
    }

    @Test func `a test has a token replaced once it was accepted`() async throws {
        let transport = MockTransport()
        let client = try Self.client(transport)
        transport.on(.get, "/v1/users/42")
            .respond(json: User(id: 42, name: "Ada"))
            .thenRespond(.unauthorized)
            .thenRespond(json: User(id: 42, name: "Ada"))
        _ = try await client.get("users/42", as: User.self)
        // With another token, after a 401.
        _ = try await client.get("users/42", as: User.self)
        #expect(transport.requests.map { $0.fields["Authorization"] } == ["Bearer t1", "Bearer t1", "Bearer t2"])
    }

    @Test func `a test has the very first token refused`() async throws {
        let transport = MockTransport()
        let client = try Self.client(transport)
        transport.on(.get, "/v1/users/42").respond(.unauthorized)
        let error = await #expect(throws: NetworkError.self) {
            try await client.get("users/42", as: User.self)
        }
        #expect(error?.refreshRefusal == .neverAccepted)
        #expect(transport.requests.count == 1 && "\(error!)".contains("refused this one at its first use"))
    }

    @Test func `a password is sent when it is asked for`() async throws {
        let (transport, secret) = (MockTransport(), "pw")
        transport.otherwise { request in
            request.fields["Authorization"] == "Basic YWRhOnB3"
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        }
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: transport)
        configuration.credentials = .password(user: "ada", password: secret)
        let client = try HTTPSession(configuration)
        #expect(try await client.get("x", as: .string).value == "in")
    }

    private struct Vault: Sendable {
        func password(for realm: String, again: Bool) async -> String? { again ? "pw" : "old" }
    }

    private func guarded(_ configuration: inout HTTPSession.Configuration) -> MockTransport {
        let transport = MockTransport()
        transport.otherwise { request in
            request.fields["Authorization"] == "Basic YWRhOnB3"
                ? .respond(body: "in") : .respond(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        }
        configuration.transport = transport
        return transport
    }

    @Test func `a request has a password of its own, and no clear text takes it`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test")
        let transport = guarded(&configuration)
        configuration.basicInClearText = .refused
        let client = try HTTPSession(configuration)
        let secret = "pw"
        var options = HTTPSession.Options()
        options.credentials = .password(user: "ada", password: secret)
        let own = options
        let error = await #expect(throws: NetworkError.self) { try await client.get("x", options: own, as: .string) }
        #expect(error?.code == .clearTextRefused && transport.requests.count == 1)
    }

    @Test func `somebody is asked for the password until it is right`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com")
        let transport = guarded(&configuration)
        let vault = Vault()
        configuration.authenticationHandler = { challenge in
            guard case .protectionSpace(let space) = challenge.kind,
                challenge.origin.description == "https://api.example.com",
                let password = await vault.password(
                    for: space.realm, again: challenge.previousFailures > 0)
            else { return .performDefault }
            return .useCredential(.password(user: "ada", password: password))
        }
        let client = try HTTPSession(configuration)
        #expect(try await client.get("x", as: .string).value == "in")
        #expect(transport.requests.count == 3)
        // Another origin names the same realm, and gets nothing.
        let error = await #expect(throws: NetworkError.self) {
            try await client.get(url: "https://other.test/x", as: .string)
        }
        #expect(error?.response?.status == 401 && transport.requests.count == 4)
    }

    struct SignedIn: HTTPSession.Authenticator {
        struct Keys: Sendable {
            var current: String
            var renewal: String
        }

        func fields(for keys: Keys) -> Fields {
            ["X-Session": keys.current]
        }

        func refresh(
            _ stale: Keys?, using client: HTTPSession
        ) async throws -> Keys {
            let pair = try await client.post(
                "login", body: .form(["renewal": stale?.renewal ?? "first"]),
                as: [String].self)
            return Keys(current: pair[0], renewal: pair[1])
        }

        func isRefused(by response: ResponseHead) -> Bool {
            response.status == 401 || response.status == 419
        }
    }

    @Test func `a credential of any kind goes into any fields`() async throws {
        let transport = MockTransport()
        transport.on(.post, "/login").respond(json: ["k1", "r1"]).thenRespond(json: ["k2", "r2"])
        transport.on(.get, "/x").respond(419).thenRespond(body: "in")
        let client = try HTTPSession(baseURL: "http://api.test") {
            $0.transport = transport
            $0.authentication = .by(SignedIn())
            try $0.use(ManualClock())
        }
        // The first credential was got, and is refused before anything was accepted.
        let error = await #expect(throws: NetworkError.self) { try await client.get("x", as: .string) }
        #expect(error?.response?.status == 419)
        #expect(try await client.get("x", as: .string).value == "in")
        let keys = transport.requests.map { $0.fields["X-Session"] }
        #expect(keys == [nil, "k1", "k1"])
        #expect(transport.requests[0].body == "renewal=first")
    }
}
