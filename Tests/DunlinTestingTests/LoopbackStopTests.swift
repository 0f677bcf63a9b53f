import DunlinTesting
import DunlinTypes
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackStopTests {
    typealias Step = LoopbackServer.Step

    @Test(arguments: [
        Step.stall, .pause(.seconds(3600)), .waitForSignal(.init()), .awaitInput, .drain, .generate(1 << 40),
        .drip("ab", every: .seconds(3600)), .halfClose,
    ])
    func `stop ends a connection in every kind of wait`(step: Step) async throws {
        let server = try LoopbackServer(Self.ownName())
        let reached = LoopbackServer.Gate()
        server.enqueue([.signal(reached), step])
        let peer = try Peer(server.address)
        peer.send(.get())
        try await reached.opened()
        server.stop()
        #expect(server.openConnections == 0)
        // A process that is begun just now has a copy of the socket until it is another program.
        try await eventually("nobody listens") { Self.isRefused(server.address) }
        #expect(server.failures.isEmpty)
    }

    @Test func `stop ends connections that say nothing or half of something`() async throws {
        let server = try LoopbackServer()
        server.onConnect(.accept, .accept, .accept, .stallBeforeReading)
        let silent = try Peer(server.address)
        let inHead = try Peer(server.address)
        inHead.send("GET / HT")
        let inBody = try Peer(server.address)
        inBody.send("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n1")
        let unread = try Peer(server.address)
        try await server.wait { $0.open == 4 }
        server.stop()
        #expect(server.openConnections == 0)
        for ending in [silent.readToEnd().ending, inHead.readToEnd().ending, inBody.readToEnd().ending] {
            #expect(ending != .silent)
        }
        #expect(unread.readToEnd().ending == .closed)
    }

    @Test func `stop may be called again, at once and by several`() async throws {
        let server = try LoopbackServer()
        server.enqueue([.stall])
        let peer = try Peer(server.address)
        peer.send(.get())
        _ = try await server.nextRequest()
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { server.stop() } }
        }
        #expect(server.openConnections == 0)
        server.stop()
    }

    @Test func `a server that nobody keeps is stopped`() async throws {
        var server: LoopbackServer? = try LoopbackServer(Self.ownName())
        server?.enqueue([.stall])
        let address = try #require(server?.address)
        let peer = try Peer(address)
        peer.send(.get())
        _ = try await server?.nextRequest()
        server = nil
        #expect(peer.readToEnd().ending == .closed)
        #expect(throws: Peer.Refused.self) { _ = try Peer(address) }
    }

    @Test func `a closure may stop its own server`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in
            server.stop()
            return .response()
        }
        let peer = try Peer(server.address)
        peer.send(.get())
        _ = peer.readToEnd()
        server.stop()
        #expect(server.openConnections == 0)
    }

    @Test func `a stopped server releases its closures`() throws {
        final class Witness: Sendable {}
        var witness: Witness? = Witness()
        weak let remains = witness
        let server = try LoopbackServer()
        server.respond { [witness] _ in
            _ = witness
            return .response()
        }
        server.onConnect { [witness] _ in
            _ = witness
            return .accept
        }
        witness = nil
        #expect(remains != nil)
        server.stop()
        #expect(remains == nil)
    }

    /// In a process of its own, where no other test opens descriptors.
    @Test func `two hundred servers leave no descriptor and no thread behind`() async {
        await #expect(processExitsWith: .success) {
            for round in 0..<6 { _ = try Self.live(round) }
            let baseline = Self.openDescriptors()
            let threads = Self.names(in: "/proc/self/task").count
            for round in 0..<200 {
                // Kept while counting: it is stop() that must let go, not the end of the server.
                let server = try Self.live(round)
                try #require(Self.openDescriptors() == baseline, "after life \(round) at \(server.baseURL)")
            }
            // A detached thread that has let go of everything may still be on its way out.
            let start = ContinuousClock.now
            while Self.names(in: "/proc/self/task").count >= threads + 8, ContinuousClock.now - start < .seconds(60) {
                sched_yield()
            }
            #expect(Self.names(in: "/proc/self/task").count < threads + 8)
        }
    }

    /// A name that nobody else takes when it is free. The kernel gives a port again, to the server of another test.
    private static func isRefused(_ address: HTTP.SocketAddress) -> Bool {
        do {
            _ = try Peer(address)
            return false
        } catch {
            return true
        }
    }

    private static func ownName() -> LoopbackServer.Endpoint {
        .unix("\0dunlin-stop-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    }

    /// One server with a connection in each kind of trouble, stopped.
    private static func live(_ round: Int) throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration()
        configuration.completesConnections = round % 5 != 0
        let endpoint = [LoopbackServer.Endpoint.ipv4, .ipv6, .abstract][round % 3]
        let server = try LoopbackServer(endpoint, configuration: configuration)
        defer { server.stop() }
        guard configuration.completesConnections else { return server }
        let gate = LoopbackServer.Gate()
        server.enqueue(.response(body: "x"), [.send("1"), .stall])
        server.enqueue([.send("2"), .waitForSignal(gate)], [.reset])
        let first = try Peer(server.address)
        first.send(.get())
        _ = first.readResponse()
        first.send(.get())
        let second = try Peer(server.address)
        let third = try Peer(server.address)
        // Every other life ends in the midst of it.
        if round % 2 == 0 { #expect(first.read(1) == "1") }
        second.send(.get())
        if round % 2 == 0 { #expect(second.read(1) == "2") }
        third.send(.get())
        return server
    }

    /// Sockets and eventfds: what a server can own. The testing library and sanitizers open pipes of their own.
    private static func openDescriptors() -> Int {
        names(in: "/proc/self/fd").count { name in
            var target = [UInt8](repeating: 0, count: 64)
            let count = target.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { readlink("/proc/self/fd/\(name)", $0, bytes.count) } ?? 0
            }
            let kind = String(decoding: target.prefix(max(count, 0)), as: UTF8.self)
            return kind.hasPrefix("socket:") || kind == "anon_inode:[eventfd]"
        }
    }

    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { name in
                    String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}
