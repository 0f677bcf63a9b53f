import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// A server that accepts a token for so many requests.
private final class Tokens: Sendable {
    private struct State {
        var newest = 0
        var left = 0
        var grants = 0
    }

    private let state = Mutex(State())
    private let lifetime: Int

    init(lifetime: Int) { self.lifetime = lifetime }

    var grants: Int { state.withLock { $0.grants } }

    func answer(_ request: LoopbackServer.RecordedRequest) -> LoopbackServer.Reply {
        state.withLock { state in
            if request.target == "/token" {
                state.grants += 1
                state.newest += 1
                state.left = lifetime
                return .response(body: Bytes("\(state.newest)"))
            }
            guard state.left > 0, request.fields["authorization"] == "Bearer \(state.newest)" else {
                return .response(401, body: "out")
            }
            state.left -= 1
            return .response(body: request.body.isEmpty ? "in" : request.body)
        }
    }
}

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10))) struct `A token that expires` {
    private static func with(lifetime: Int, _ play: @Sendable @escaping (Stage, Tokens) async throws -> Void)
        async throws
    {
        let tokens = Tokens(lifetime: lifetime)
        try await Stage.with(configure: {
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { client in
                .init(try await client.post("/token", as: .string).value)
            }
            $0.connections.perOrigin = 16
        }) { (stage: Stage) async throws in
            stage.server.respond { tokens.answer($0) }
            try await play(stage, tokens)
        }
    }

    @Test func `ten thousand requests cause one refresh each time the token expires`() async throws {
        let (count, lifetime, callers) = (10_000, 500, 16)
        try await Self.with(lifetime: lifetime) { (stage: Stage, tokens: Tokens) async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<callers {
                    group.addTask {
                        for _ in 0..<count / callers {
                            let text = try await stage.session.get("x", as: .string).value
                            if text != "in" { Issue.record("the server said \(text)") }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(tokens.grants == count / lifetime)
        }
    }

    @Test func `a refused request goes again on its connection, with its metrics`() async throws {
        try await Self.with(lifetime: 1) { (stage: Stage, tokens: Tokens) async throws in
            #expect(try await stage.session.get("x", as: .string).value == "in")
            let response = try await stage.session.post("x", body: .string("all of it"), as: .string)
            #expect(response.value == "all of it" && response.metrics.hops.count == 2)
            #expect(tokens.grants == 2 && stage.server.connectionCount <= 2)
        }
    }

    @Test func `a stream goes with the newest token too`() async throws {
        try await Self.with(lifetime: 1) { (stage: Stage, tokens: Tokens) async throws in
            for _ in 0..<3 {
                let text = try await stage.session.withResponse(from: "x") { response in
                    #expect(response.status == 200)
                    var text = ""
                    for try await line in response.lines { text += line }
                    return text
                }
                #expect(text == "in")
            }
            #expect(tokens.grants == 3)
        }
    }

    /// A session keeps what came of its fields with a token and cookies, because most requests have the same.
    @Test func `each request has the fields, token and cookies of now, and another origin no token`() async throws {
        let other = try LoopbackServer()
        defer { other.stop() }
        other.respond { _ in .response(body: "away") }
        let jar = CookieJar()
        let tokens = Tokens(lifetime: 4)
        let elsewhere = "http://127.0.0.1:\(other.port)/"
        try await Stage.with(configure: {
            $0.cookies = jar
            $0.redirects.allowsHTTPSToHTTP = true
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { client in
                .init(try await client.post("/token", as: .string).value)
            }
        }) { (stage: Stage) async throws in
            stage.server.respond {
                $0.target == "/away" ? .response(302, fields: ["Location": elsewhere]) : tokens.answer($0)
            }
            let session = stage.session
            func last() throws -> [String?] {
                let fields = try #require(stage.server.requests.last).fields
                return [fields["x-a"], fields["authorization"], fields["cookie"]]
            }
            for _ in 0..<2 { _ = try await session.get("x") }
            #expect(try last() == [nil, "Bearer 1", nil])
            try session.replace(originFields: ["X-A": "1"])
            try jar.receive(["Set-Cookie": "a=1"], from: stage.server.baseURL)
            _ = try await session.get("x")
            #expect(try last() == ["1", "Bearer 1", "a=1"])
            try session.replace(originFields: ["X-A": "2"])
            try jar.receive(["Set-Cookie": "a=2"], from: stage.server.baseURL)
            _ = try await session.get("x")
            #expect(try last() == ["2", "Bearer 1", "a=2"])
            // The fifth request has outlived the first token.
            _ = try await session.get("x", fields: ["Cookie": "own=1"])
            #expect(try last() == ["2", "Bearer 2", "own=1; a=2"])
            _ = try await session.get("x")
            #expect(try last() == ["2", "Bearer 2", "a=2"])
            _ = try await session.get("away")
            let away = try #require(other.requests.last).fields
            #expect(away["x-a"] == nil && away["authorization"] == nil)
            jar.removeAll()
            try session.replace(originFields: [:])
            _ = try await session.get("x")
            #expect(try last() == [nil, "Bearer 2", nil])
        }
    }
}
