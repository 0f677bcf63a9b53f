import Dunlin
import DunlinLogging
import DunlinTesting
import InMemoryLogging
import Logging
import Testing

@Suite(.timeLimit(.minutes(1))) struct `The line of a request` {
    @Test func `it has the table's keys, over real connections`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let log = InMemoryLogHandler()
        let session = try HTTPSession(baseURL: server.baseURL) { $0.log(to: log.logger(.debug)) }
        for id in 1...2 { try await session.get("users/\(id, name: "id")", query: ["page": 2]) }
        await session.shutdown()
        let entries = log.entries
        #expect(entries.map(\.message) == ["GET users/{id}: 200 OK", "GET users/{id}: 200 OK"])
        #expect(entries.map(\.level) == [.debug, .debug])
        let entry = try #require(entries.last)
        #expect(entry[.method] == "GET" && entry[.template] == "/users/{id}" && entry[.path] == nil)
        #expect(entry[.host] == "127.0.0.1" && entry[.port] == "\(server.port)" && entry[.status] == "200")
        #expect(entry[.peer] == "127.0.0.1" && entry[.peerPort] == "\(server.port)")
        #expect(entry[.attempts] == "1" && entry[.exchanges] == "1" && entry[.error] == nil && entry[.phase] == nil)
        #expect(entries.map { $0[.reused] } == ["false", "true"])
        #expect(try #require(entry[.duration].flatMap(Double.init)) > 0)
        #expect(try #require(entry[.bytesReceived].flatMap(Int.init)) > 5)
        #expect(try #require(entry[.bytesSent].flatMap(Int.init)) > 20)
        #expect(entry[.phases]?.contains("firstByte") == true && entry[.requestID] == nil)
        #expect(try #require(entry[.task].flatMap(UInt64.init)) > 0)
        let known = Set(HTTPSession.LogKey.allCases.map(\.rawValue)).union(["service"])
        #expect(known.isSuperset(of: entry.metadata.keys))
    }

    @Test func `a target made from text is shown by its path`() async throws {
        let logged = try Logged()
        logged.transport.otherwise { _ in .respond() }
        let text = "users/42?name=Ada#top"
        try await logged.session.get(HTTP.Target(text))
        #expect(logged.last?[.path] == "/v1/users/42" && logged.last?[.template] == nil)
        #expect(logged.last?.message == "GET: 200 OK")
    }

    static let outcomes: [(status: HTTP.Status?, isRefused: Bool, level: Logger.Level, text: String)] = [
        (200, true, .info, "200 OK"), (304, false, .info, "304 Not Modified"), (404, true, .notice, "404 Not Found"),
        (404, false, .notice, "404 Not Found"), (503, true, .warning, "503 Service Unavailable"),
        (503, false, .warning, "503 Service Unavailable"), (nil, true, .warning, "connectionFailed"),
    ]

    @Test(arguments: outcomes) func `its level follows the outcome`(
        status: HTTP.Status?, isRefused: Bool, level: Logger.Level, text: String
    ) async throws {
        let logged = try Logged(configure: { $0.acceptedStatuses = isRefused ? .none : .any })
        if let status {
            logged.transport.on(.get, "/v1/x").respond(status)
        } else {
            logged.transport.on(.get, "/v1/x").fail(.connectionRefused)
        }
        _ = try? await logged.session.get("x")
        #expect(logged.log.entries.map(\.level) == [level])
        #expect(logged.last?.message == "GET x: \(text)")
        #expect(logged.last?[.status] == status.map { "\($0.code)" })
        let type: String? = isRefused ? status.map { $0.code >= 400 ? "\($0.code)" : nil } ?? "connectionFailed" : nil
        #expect(logged.last?[.error] == type)
        #expect(logged.last?.error == nil)
    }

    @Test func `a failure has its code and phase`() async throws {
        let logged = try Logged()
        logged.transport.on(.get, "/v1/a").fail(.timedOut(.firstByte))
        logged.transport.on(.get, "/v1/b").respond(body: "no JSON")
        _ = try? await logged.session.get("a")
        _ = try? await logged.session.get("b", as: [Int].self)
        #expect(logged.log.entries.map { $0[.error] } == ["timedOut", "decodingFailed"])
        #expect(logged.log.entries.map { $0[.phase] } == ["firstByte", "receive"])
        #expect(logged.log.entries.map { $0[.status] } == [nil, "200"])
    }

    @Test func `a cancelled request has a level of its own`() async throws {
        let logged = try Logged(.trace) { $0.levels.cancelled = .trace }
        logged.transport.on(.get, "/v1/never").never()
        let task = Task { try await logged.session.get("never") }
        try await logged.transport.waitForRequests(1)
        task.cancel()
        _ = await task.result
        let handle = try logged.session.task("unbegun")
        handle.cancel()
        _ = await handle.result
        #expect(logged.log.entries.map(\.message) == ["GET never: cancelled", "GET unbegun: cancelled"])
        #expect(logged.log.entries.map(\.level) == [.trace, .trace])
        #expect(logged.log.entries.map { $0[.error] } == ["cancelled", "cancelled"])
        #expect(logged.log.entries.map { $0[.exchanges] } == ["1", "0"])
    }

    @Test func `levels can be set, and left out`() async throws {
        let logged = try Logged {
            $0.levels.success = nil
            $0.levels.clientError = .critical
        }
        logged.transport.on(.get, "/v1/a").respond()
        logged.transport.on(.get, "/v1/b").respond(404)
        try await logged.session.get("a")
        _ = try? await logged.session.get("b")
        #expect(logged.log.entries.map(\.level) == [.critical])
    }

    @Test func `a stream's line comes after its body`() async throws {
        let logged = try Logged()
        logged.transport.on(.get, "/v1/long").reply(.stream(["a", "b"]))
        try await logged.session.withResponse(from: "long") { response in
            #expect(logged.log.entries.isEmpty)
            for try await _ in response.body {}
        }
        #expect(logged.log.entries.count == 1)
    }

    @Test func `a handle's duration begins when it is resumed`() async throws {
        let logged = try Logged()
        logged.transport.on(.get, "/v1/a").respond()
        let handle = try logged.session.task("a")
        let later = ContinuousClock.now + .milliseconds(200)
        try await eventually("time has passed") { ContinuousClock.now >= later }
        let resumed = ContinuousClock.now
        handle.resume()
        _ = try await handle.value
        let most = resumed.duration(to: .now) / .milliseconds(1)
        #expect(try #require(logged.last?[.duration].flatMap(Double.init)) <= most + 1)
    }

    @Test func `an error goes to the handler only if asked`() async throws {
        let logged = try Logged { $0.passesErrors = true }
        logged.transport.on(.get, "/v1/a").fail(.connectionRefused)
        _ = try? await logged.session.get("a")
        #expect((logged.last?.error as? NetworkError)?.code == .connectionFailed)
    }

    @Test func `two logs write a line each`() async throws {
        let second = InMemoryLogHandler()
        let logged = try Logged(configure: { $0.log(to: second.logger(.warning)) })
        logged.transport.on(.get, "/v1/a").respond().thenRespond(503)
        for _ in 0..<2 { _ = try? await logged.session.get("a") }
        #expect(logged.log.entries.count == 2 && second.entries.count == 1)
    }
}
