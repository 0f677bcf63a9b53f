import Dunlin
import DunlinLogging
import DunlinTesting
import Foundation
import InMemoryLogging
import Logging
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct `Lines before the end of a request` {
    @Test func `retries say what came of the attempt, and how long they wait`() async throws {
        let logged = try Logged(.debug, configure: { $0.retry = .constant(attempts: 3, every: .milliseconds(2)) })
        logged.transport.on(.get, "/v1/users/42").respond(503).thenFail(.connectionRefused).thenRespond()
        try await logged.session.get("users/\(42, name: "id")")
        let entries = logged.log.entries
        #expect(logged.steps == ["retrying", "retrying"])
        #expect(entries.map(\.level) == [.debug, .debug, .info])
        #expect(entries[0].message == "GET users/{id}: tries again after a wait")
        #expect(entries.map { $0[.wait] } == ["2.0", "2.0", nil])
        #expect(entries.map { $0[.status] } == ["503", nil, "200"])
        #expect(entries.map { $0[.error] } == [nil, "connectionFailed", nil])
        #expect(entries.map { $0[.phase] } == [nil, "connect", nil])
        #expect(Set(entries.map { $0[.task] }).count == 1 && entries[2][.attempts] == "3")
    }

    @Test func `redirects say where they lead, without a query`() async throws {
        let logged = try Logged(.debug)
        logged.transport.on(.get, "/v1/old").respond(
            301, fields: ["Location": "https://other.test:8443/new/;jsessionid=x/%3Ftoken%3Dx?token=hunter2#hunter2"])
        logged.transport.otherwise { _ in .respond() }
        try await logged.session.get("old")
        #expect(logged.steps == ["redirected"])
        let entry = logged.log.entries[0]
        #expect(entry[.status] == "301" && entry[.redirectHost] == "other.test")
        #expect(entry[.redirectPath] == "/new/***/***")
    }

    @Test func `an answer to a challenge and a refresh say so`() async throws {
        let number = Mutex(0)
        let logged = try Logged(
            .debug,
            configure: {
                $0.authentication = .bearer { _ in .init("hunter\(number.withLock { $0 += 1; return $0 })") }
            })
        logged.transport.on(.get, "/v1/a").respond().thenRespond(401).thenRespond()
        for _ in 0..<2 { try await logged.session.get("a") }
        #expect(logged.steps == ["sending_again"])
        #expect(logged.log.entries.compactMap { $0[.reason] } == ["refreshed"])
        #expect(logged.log.entries.contains { $0.message == "GET a: sent again: refreshed" })
    }

    @Test func `waits in a queue say so`() async throws {
        let logged = try Logged(.debug, configure: { $0.queue.running = 1 })
        logged.transport.otherwise { _ in .respond() }
        try await logged.session.get("a")
        #expect(logged.steps == ["queued", "admitted"] || logged.steps == ["admitted"] || logged.steps.isEmpty)
        logged.log.clear()
        let handle = try logged.session.task("a")
        handle.resume()
        handle.suspend()
        handle.resume()
        _ = await handle.result
        #expect(logged.steps.filter { $0 == "resumed" }.count == 2 && logged.steps.contains("suspended"))
        #expect(logged.log.entries.filter { $0[.step] == "admitted" }.allSatisfy { $0[.wait] != nil })
    }

    @Test func `a wait for a network says so`() async throws {
        let network = ManualNetwork()
        let logged = try Logged(
            .debug,
            configure: {
                $0.waitsForConnectivity = true
                $0.reachability = Reachability(source: network)
            })
        let unreachable = NetworkError(
            .connectionFailed, "no address accepted a connection", phase: .connect, isSafeToRetry: true,
            peer: "http://api.test",
            underlying: NetworkError.ConnectionFailures([
                .init(address: .v4(0x0101_0101, port: 80), errno: 101, reason: "Network is unreachable")
            ]))
        logged.transport.on(.get, "/v1/a").fail(unreachable).thenRespond()
        async let response = logged.session.get("a")
        try await eventually("it looks", following: network) { network.lookCount >= 1 }
        network.change(to: .wifi)
        _ = try await response
        #expect(logged.steps == ["waiting_for_connectivity", "sending_again"])
        #expect(logged.log.entries[0][.error] == "connectionFailed" && logged.log.entries[0][.phase] == "connect")
    }

    @Test func `an answer from the cache says so, in the last line too`() async throws {
        let logged = try Logged(.debug, configure: { $0.cache = HTTPSession.Cache(.small) })
        logged.transport.on(.get, "/v1/a").respond(fields: ["Cache-Control": "max-age=60"], body: "x")
        for _ in 0..<2 { try await logged.session.get("a") }
        #expect(logged.steps == ["served_from_cache"])
        #expect(logged.last?[.cacheStatus]?.hasPrefix("dunlin; hit") == true)
        #expect(logged.last?[.cacheSource] == "memory" && logged.last?[.cacheState] == "fresh")
        #expect(logged.last?[.exchanges] == "0")
    }

    @Test func `a question of the session's own is marked, and says what the caller's task says`() async throws {
        let logged = try Logged(configure: { $0.cache = HTTPSession.Cache(.small) })
        let stale: Fields = ["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": "\"1\""]
        logged.transport.on(.get, "/v1/a").respond(fields: stale, body: "x").thenRespond(304, fields: stale)
        try await logged.session.get("a")
        _ = try await withLogger(mergingMetadata: ["job": "42"]) { _ in try await logged.session.get("a") }
        try await eventually("there are three lines") { logged.log.entries.count == 3 }
        let entries = logged.log.entries.filter { $0[.revalidation] == "true" }
        #expect(entries.count == 1 && entries[0][.cacheStatus]?.contains("fwd-status=304") == true)
        #expect(entries.map { $0.metadata["job"] } == ["42"])
    }

    @Test func `one that waits for an identical request says so, in the last line too`() async throws {
        let logged = try Logged(.debug, configure: { $0.coalescing.isOn = true })
        logged.transport.on(.get, "/v1/a").delay(.milliseconds(100)).respond(body: "x")
        async let first = logged.session.get("a")
        try await logged.transport.waitForRequests(1)
        async let second = logged.session.get("a")
        _ = try await (first, second)
        #expect(logged.steps.contains("joined"))
        #expect(logged.log.entries.filter { $0[.step] == nil }.compactMap { $0[.joined] } == ["true"])
    }

    @Test func `a download that goes on says so, with what is there already`() async throws {
        let (server, log) = (try LoopbackServer(), InMemoryLogHandler())
        defer { server.stop() }
        let entity = LoopbackServer.Entity(length: 200_000, tag: "\"one\"")
        let isFirst = Mutex(true)
        server.respond { request in
            let fault: LoopbackServer.EntityFault = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst ? .short(after: 100_000) : .none
            }
            return entity.reply(to: request, fault)
        }
        let session = try HTTPSession(baseURL: server.baseURL) { $0.log(to: log.logger(.debug)) }
        let file = FileManager.default.temporaryDirectory.appending(path: "dunlin-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await session.download("file", to: .file(file.path))
        await session.shutdown()
        #expect(log.entries.compactMap { $0[.step] } == ["download_resumed"])
        #expect(log.entries.compactMap { $0[.offset] } == ["100000"])
        #expect(log.entries.last?[.exchanges] == "2")
    }

    @Test func `a proxy is named without its password, in the last line too`() async throws {
        let (server, proxy) = (try LoopbackServer(), try LoopbackProxy(user: "ada", password: "hunter2"))
        defer {
            server.stop()
            proxy.stop()
        }
        server.respond { _ in .response(body: "hello") }
        let log = InMemoryLogHandler()
        let session = try HTTPSession(baseURL: server.baseURL) {
            $0.proxy = .url("http://ada:hunter2@127.0.0.1:\(proxy.port)")
            $0.log(to: log.logger(.debug))
        }
        try await session.get("a")
        await session.shutdown()
        #expect(log.entries.compactMap { $0[.step] } == ["proxy"])
        #expect(log.entries.map { $0[.proxy] } == Array(repeating: "http://127.0.0.1:\(proxy.port)", count: 2))
        #expect(!log.text.contains("hunter2") && !log.text.contains("ada"))
    }

    @Test func `none is written above their level, or without one`() async throws {
        for (level, steps) in [(Logger.Level.info, Logger.Level?.some(.debug)), (.trace, nil)] {
            let logged = try Logged(
                level, { $0.levels.steps = steps },
                configure: {
                    $0.retry = .constant(attempts: 2, every: .zero)
                })
            logged.transport.on(.get, "/v1/a").respond(503).thenRespond()
            try await logged.session.get("a")
            #expect(logged.log.entries.map(\.message) == ["GET a: 200 OK"])
        }
    }
}
