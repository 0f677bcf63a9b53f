import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Requests that hold all connections, while code that they wait for needs one.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A request that others wait for has a connection` {
    /// The session, for its own code.
    private final class Own: Sendable {
        private let kept = Mutex<HTTPSession?>(nil)
        private let asked = Mutex((count: 0, mostOpen: 0))

        var session: HTTPSession? { kept.withLock { $0 } }
        /// How often the password was asked for, and with how many connections open at most.
        var count: Int { asked.withLock { $0.count } }
        var mostOpen: Int { asked.withLock { $0.mostOpen } }
        func noteOpen() {
            let open = session?.connections.open ?? 0
            asked.withLock { $0 = ($0.count + 1, max($0.mostOpen, open)) }
        }
        func keep(_ session: HTTPSession?) { kept.withLock { $0 = session } }
    }

    /// Longer than what comes with a head.
    private static let page = Bytes(Array(repeating: UInt8(ascii: "x"), count: 300_000))

    /// Plays with a session that `own` knows, a server that challenges with a long page, and few connections.
    private static func play(
        _ connections: Int, _ configure: (inout HTTPSession.Configuration, Own) -> Void,
        _ play: (Stage, Own) async throws -> Void
    ) async throws {
        let own = Own()
        try await Stage.with { configuration in
            configuration.connections.perOrigin = connections
            configure(&configuration, own)
        } _: { (stage: Stage) async throws in
            own.keep(stage.session)
            defer { own.keep(nil) }
            stage.server.respond { request in
                if request.target == "/password" {
                    own.noteOpen()
                    return .response(fields: ["Cache-Control": "max-age=60"], body: "secret")
                }
                if request.target == "/page" { return .response(body: page) }
                if request.fields.contains("Authorization") { return .response(body: "in") }
                return .response(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], body: page)
            }
            try await play(stage, own)
        }
    }

    /// Asks for the password once the gate is open.
    private static func handler(
        _ own: Own, _ target: HTTP.Target, after gate: LoopbackServer.Gate
    ) -> HTTPSession.AuthenticationHandler {
        { challenge in
            guard case .protectionSpace = challenge.kind, let session = own.session else { return .performDefault }
            do {
                try await gate.opened()
                let password = try await session.get(target, as: .string).value
                return .useCredential(.password(user: "a", password: password))
            } catch {
                return .cancel(error)
            }
        }
    }

    @Test(arguments: [(1, 3), (2, 6), (16, 48), (128, 200)])
    func `a handler asks its own server while challenges hold all connections`(
        connections: Int, count: Int
    ) async throws {
        let gate = LoopbackServer.Gate()
        try await Self.play(connections) { configuration, own in
            configuration.authenticationHandler = Self.handler(own, "password", after: gate)
        } _: { stage, own async throws in
            let values = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<count { group.addTask { try await stage.session.get("x", as: .string).value } }
                try await stage.eventually("all others wait") {
                    stage.session.connections.waiting == count - connections
                }
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: "in", count: count))
            #expect(own.mostOpen == connections + 1)
        }
    }

    @Test func `an interceptor asks while nobody has read its response`() async throws {
        try await Self.play(1) { configuration, own in
            configuration.interceptors = [
                .exchange { request, next in
                    let response = try await next(request)
                    _ = try await own.session?.get("password", as: .string)
                    return response
                }
            ]
        } _: { stage, _ async throws in
            #expect(try await stage.session.get("page", as: .bytes).value == Self.page)
        }
    }

    @Test func `the reader of a stream asks while that holds the only connection`() async throws {
        try await Self.play(1, { _, _ in }) { stage, _ in
            let value = try await stage.session.withResponse(from: "page") { _ in
                let handle = try stage.session.task("password", as: .string)
                handle.resume()
                let asked = try await stage.session.get("password", as: .string).value
                return try await [asked, handle.value]
            }
            #expect(value == ["secret", "secret"])
        }
    }

    @Test func `at the total, a handler asks another server`() async throws {
        let other = try Stage.makeServer()
        defer { other.stop() }
        other.respond { _ in .response(body: "secret") }
        let gate = LoopbackServer.Gate()
        gate.open()
        try await Self.play(9) { configuration, own in
            configuration.connections.total = 1
            configuration.authenticationHandler = Self.handler(
                own, HTTP.Target(other.baseURL + "/password"), after: gate)
        } _: { stage, _ async throws in
            #expect(try await stage.session.get("x", as: .string).value == "in")
        }
    }

    @Test func `a request in a scope joins none that waits for the scope's connection`() async throws {
        try await Self.play(1, { configuration, _ in configuration.coalescing.isOn = true }) { stage, _ in
            let session = stage.session
            let outer = try await session.withResponse(from: "page") { _ in
                let outer = Task.detached { try await session.get("password", as: .string).value }
                try await stage.eventually("it waits for the connection") { session.connections.waiting == 1 }
                #expect(try await session.get("password", as: .string).value == "secret")
                return outer
            }
            #expect(try await outer.value == "secret")
        }
    }

    /// A refresh is shared by requests of all depths, so that none of theirs may keep it from its connection.
    @Test func `a refresh has a connection, though requests that wait for it hold all others`() async throws {
        try await Self.play(1) { configuration, own in
            configuration.authentication = .bearer { client in
                .init(try await client.get("password", as: .string).value)
            }
        } _: { stage, _ in
            let session = stage.session
            let value = try await session.withResponse(from: "page", options: Self.bare) { _ in
                try await session.withResponse(from: "page", options: Self.bare) { _ in
                    try await session.get("x", as: .string).value
                }
            }
            #expect(value == "in")
        }
    }

    @Test func `a thousand requests share a refresh that asks its own server`() async throws {
        try await Self.play(2) { configuration, own in
            configuration.authentication = .bearer { client in
                .init(try await client.get("password", as: .string).value)
            }
        } _: { stage, own in
            let values = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<1000 { group.addTask { try await stage.session.get("x", as: .string).value } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: "in", count: 1000))
            #expect(own.count == 1 && own.mostOpen <= 3)
        }
    }

    /// Nothing under way is shared by code that others wait for.
    @Test(arguments: [false, true])
    func `fifty interceptors that fetch one key send fifty requests, or one by the cache`(
        isCached: Bool
    ) async throws {
        try await Self.play(8) { configuration, own in
            configuration.coalescing.isOn = true
            if isCached { configuration.cache = HTTPSession.Cache() }
            configuration.interceptors = [
                .exchange { request, next in
                    let key = try await own.session?.get("password", as: .string).value
                    return try await next(request) { $0.head.fields.append(name: "Authorization", value: key ?? "") }
                }
            ]
        } _: { stage, own in
            if isCached { _ = try await stage.session.get("first", as: .string) }
            let values = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<50 {
                    group.addTask { try await stage.session.get("x\(number)", as: .string).value }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(values == Array(repeating: "in", count: 50))
            #expect(own.count == (isCached ? 1 : 50))
        }
    }

    private static var bare: HTTPSession.Options { HTTPSession.Options(credentials: .none) }

    @Test func `code that has left the scope has no connection beyond the limit`() async throws {
        try await Self.play(1, { configuration, _ in configuration.timeouts.pool = .milliseconds(200) }) { stage, _ in
            let session = stage.session
            let count = try await session.withResponse(from: "page") { response in
                let error = try await Task.detached {
                    try await NetworkError.thrown { _ = try await session.get("password", as: .string) }
                }.value
                #expect(error.exceeded == .pool)
                return try await response.body.reduce(into: 0) { $0 += $1.count }
            }
            #expect(count == Self.page.count)
        }
    }
}
