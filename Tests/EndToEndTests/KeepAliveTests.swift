import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Keep-alive` {
    @Test func `one connection serves one request after the other`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { .response(body: Bytes("for \($0.target)")) }
            for index in 0..<5 {
                let response = try await stage.session.get("item/\(index)", as: .string)
                #expect(response.value == "for /item/\(index)")
                #expect(response.metrics.hops.map(\.isConnectionReused) == [index > 0])
            }
            #expect(stage.server.connectionCount == 1)
            var gauges = HTTP.ConnectionGauges()
            (gauges.open, gauges.idle, gauges.opened, gauges.reuses) = (1, 1, 1, 4)
            #expect(stage.session.connections == gauges)
        }
    }

    @Test(
        .rules("9112-6.1-9", "9112-6.3-11", "9112-9.3-1", "9112-9.3-3", "9112-9.6-2"),
        arguments: [
            LoopbackServer.Reply.response(body: "x").closingAfter,
            .untilClose("x"),
            .raw("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx"),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny"),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx\r\n"),
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
        ])
    func `a connection that must not be reused is not used again`(reply: LoopbackServer.Reply) async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(reply)
            stage.server.respond { _ in .response(body: "second") }
            #expect(try await stage.session.get("first", as: .string).value == "x")
            #expect(try await stage.session.get("second", as: .string).value == "second")
            #expect(stage.server.connectionCount == 2)
        }
    }

    /// Of a server that keeps it open.
    @Test(.rules("9112-9.3-3", "9112-9.6-1")) func `a connection on which the request said close is not used again`()
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let options = HTTPSession.Options(fields: ["Connection": "close"])
            _ = try await stage.session.get("a", options: options, as: .bytes)
            try await stage.eventually("the connection is closed") { stage.session.connections.open == 0 }
            _ = try await stage.session.get("b", as: .bytes)
            #expect(stage.server.connectionCount == 2)
            #expect(stage.server.requests.map { $0.fields["connection"] } == ["close", nil])
        }
    }

    @Test(.rules("9112-9.2-1", "9112-9.2-2")) func `unrequested bytes on an idle connection end it`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            let smuggled: Bytes = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"
            stage.server.enqueue(.response(body: "x").then(.waitForSignal(gate), .send(smuggled), .stall))
            stage.server.respond { _ in .response(body: "good") }
            #expect(try await stage.session.get("a", as: .string).value == "x")
            gate.open()
            try await stage.eventually("the connection is dropped") { stage.session.connections.open == 0 }
            #expect(try await stage.session.get("b", as: .string).value == "good")
        }
    }

    @Test(.rules("9112-9.5-2")) func `an idle connection that the server closes is noticed at once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x").closingSilently }
            #expect(try await stage.session.get("a", as: .string).value == "x")
            try await stage.eventually("the connection is dropped") { stage.session.connections.open == 0 }
            #expect(stage.loop.openChannels == 0)
        }
    }

    @Test(.rules("9112-9.5-1")) func `an idle connection expires by the loop's clock`() async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, configure: { $0.connections.idleTime = .seconds(60) }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            #expect(try await stage.session.get("a", as: .string).value == "x")
            try await clock.advance(by: .seconds(59))
            #expect(try await stage.session.get("a", as: .string).value == "x")
            #expect(stage.server.connectionCount == 1)
            try await clock.advance(by: .seconds(61))
            try await stage.eventually("the connection expires") { stage.session.connections.open == 0 }
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test(.rules("9112-9.3.2-1")) func `requests beyond the cap wait their turn, first come first served`() async throws
    {
        try await Stage.with(configure: { $0.connections.perOrigin = 1 }) { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "0").waiting(for: gate))
            stage.server.respond { .response(body: Bytes($0.target)) }
            let session = stage.session
            let first = Task { try await session.get("0", as: .string).value }
            _ = try await stage.server.waitForRequests(1)
            var waiting: [Task<String, any Error>] = []
            for index in 1...5 {
                waiting.append(Task { try await session.get("\(index)", as: .string).value })
                try await stage.eventually("\(index) waits") { session.connections.waiting == index }
            }
            gate.open()
            #expect(try await first.value == "0")
            for task in waiting { _ = try await task.value }
            #expect(stage.server.requests.map(\.target) == ["/0", "/1", "/2", "/3", "/4", "/5"])
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test func `the newest idle connection is used first`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            let gates = [LoopbackServer.Gate(), LoopbackServer.Gate()]
            stage.server.route(.get, "/0", .response().waiting(for: gates[0]))
            stage.server.route(.get, "/1", .response().waiting(for: gates[1]))
            stage.server.respond { _ in .response() }
            let session = stage.session
            let tasks = (0...1).map { index in Task { _ = try await session.get("\(index)", as: .bytes) } }
            _ = try await stage.server.waitForRequests(2)
            let second = try #require(stage.server.requests.first { $0.target == "/0" }).connection
            gates[1].open()
            try await tasks[1].value
            gates[0].open()
            try await tasks[0].value
            _ = try await session.get("after", as: .bytes)
            #expect(stage.server.requests.last?.connection == second)
        }
    }

    @Test(.rules("9112-9.3.1-3")) func `a GET that meets a closing connection is sent again, once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "one").closingOnNextRequest)
            stage.server.respond { _ in .response(body: "two") }
            #expect(try await stage.session.get("a", as: .string).value == "one")
            let response = try await stage.session.get("b", as: .string)
            #expect(response.value == "two")
            #expect(stage.server.connectionCount == 2)
        }
    }

    @Test(arguments: [1, 2])
    func `a request that is sent again gets a new connection, however many wait for one`(perOrigin: Int) async throws {
        try await Stage.with(configure: { $0.connections.perOrigin = perOrigin }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x").closingOnNextRequest }
            let session = stage.session
            try await withThrowingTaskGroup { group in
                for index in 0..<40 { group.addTask { try await session.get("\(index)", as: .string) } }
                for try await response in group {
                    #expect(response.value == "x")
                    #expect(response.metrics.hops.dropFirst().allSatisfy { !$0.isConnectionReused })
                }
            }
            #expect(stage.server.connectionCount == 40)
            #expect(session.connections.waiting == 0 && session.connections.open <= perOrigin)
        }
    }

    @Test(.rules("9112-9.3.1-1")) func `a POST that meets a closing connection fails and says it may have been sent`()
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.enqueue(.response(body: "one").closingOnNextRequest)
            stage.server.respond { _ in .response(body: "two") }
            #expect(try await stage.session.get("a", as: .string).value == "one")
            let error = try await NetworkError.thrown {
                _ = try await stage.session.post("b", body: .string("order"), as: .bytes)
            }
            #expect(error.code == .connectionClosed)
            #expect(error.requestMayHaveBeenSent)
            #expect(!error.isSafeToRetry)
            try await stage.expectHealthy()
        }
    }
}
