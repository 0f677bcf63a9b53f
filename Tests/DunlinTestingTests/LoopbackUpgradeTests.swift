import Dunlin
import DunlinTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Upgrades by a loopback server` {
    @Test func `a server lists bytes that it did not expect, and ends the connection`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(
            .upgrade(to: "foo", .expect("abc"), .send("yes")), .upgrade(to: "foo", .expect("abc"), .send("never")))
        let session = try HTTPSession(.init(baseURL: server.baseURL))
        let first = try await session.upgrade("x", to: "foo")
        try await first.write("ab")
        try await first.write("c")
        #expect(try await first.read() == "yes")
        #expect(try await first.read() == nil)
        #expect(server.failures.isEmpty)
        let second = try await session.upgrade("x", to: "foo")
        try await second.write("abd")
        #expect(try await second.read() == nil)
        #expect(server.failures.count == 1)
        first.close()
        second.close()
        await session.shutdown()
    }
}
