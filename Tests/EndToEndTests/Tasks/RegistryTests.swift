import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `What the registry tells` {
    /// Phases that show by themselves: what the server does, and what is seen.
    static let phases: [(LoopbackServer.Reply, HTTP.Phase)] = [
        ([.stall], .firstByte), ([.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"), .stall], .receive),
    ]

    @Test(arguments: phases, [false, true])
    func `the registry tells in which phase a request is, with an observer or without`(
        stuck: (LoopbackServer.Reply, HTTP.Phase), isObserved: Bool
    ) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(stuck.0)
            let session = stage.session
            let events = isObserved ? session.events : nil
            let request = Task { try await session.get("stuck", options: .init(label: "mine"), as: .bytes) }
            try await stage.eventually("it is in that phase") {
                await session.tasks.all.contains { $0.label == "mine" && $0.phase == stuck.1 && $0.age > .zero }
            }
            #expect(await session.tasks.all.map(\.state) == [.running(hop: 1)])
            await session.tasks.cancelAll()
            #expect(try await NetworkError.thrown { _ = try await request.value }.code == .cancelled)
            #expect(await session.tasks.all.isEmpty)
            withExtendedLifetime(events) {}
        }
    }

    @Test func `a request to a server that reads nothing shows as sending, or over TLS as securing`() async throws {
        var small = LoopbackServer.Configuration()
        small.receiveBuffer = 64 << 10
        try await Stage.with(server: small, tolerating: true) { (stage: Stage) async throws in
            stage.server.onConnect { _ in .stallBeforeReading }
            let body = RequestBody.bytes(Bytes([UInt8](repeating: 1, count: 32 << 20)))
            let task = try stage.session.task("up", method: .post, body: body, as: .bytes)
            task.resume()
            let expected: HTTP.Phase = Stage.isSecure ? .tls : .send
            try await stage.eventually("it is in that phase") { task.snapshot.phase == expected }
            task.cancel()
            #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
        }
    }

    @Test func `a session that is restarted uses no connection of before, and ends what ran`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/a", .response(body: "a"))
            stage.server.route(.get, "/stuck", [.stall])
            let session = stage.session
            let before = try await session.get("a", as: .string).metrics.hops.last?.connection
            let running = try session.task("stuck", as: .bytes)
            let waiting = try session.task("a", as: .bytes)
            running.resume()
            try await stage.server.wait { _ in stage.server.requests.count == 2 }
            #expect(await session.restart() == 2)
            for task in [running, waiting] {
                #expect(try await NetworkError.thrown { _ = try await task.value }.code == .cancelled)
            }
            let response = try await session.get("a", as: .string)
            #expect(response.value == "a")
            #expect(response.metrics.hops.last?.connection != before)
            #expect(session.connections.open == 1)
        }
    }
}
