import DunlinTesting
import DunlinTypes
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10))) struct LoopbackArrivalTests {
    @Test(arguments: [LoopbackServer.Arrival.closeAtOnce, .resetAtOnce])
    func `a connection ends before it begins`(arrival: LoopbackServer.Arrival) async throws {
        let server = try LoopbackServer()
        server.onConnect(arrival)
        let peer = try Peer(server.address)
        #expect(peer.readToEnd().ending == (arrival == .closeAtOnce ? .closed : .reset))
        try await server.wait { $0.open == 0 }
        #expect(server.connectionCount == 1)
        let next = try Peer(server.address)
        next.send(.get())
        #expect(next.readResponse().hasPrefix("HTTP/1.1 404"))
    }

    @Test func `nothing is read while a connection stalls`() async throws {
        let server = try LoopbackServer()
        server.onConnect(.stallBeforeReading)
        let peer = try Peer(server.address)
        peer.send(.get())
        try await server.wait { $0.open == 1 }
        #expect(server.requests.isEmpty)
        peer.hangUp()
        try await server.wait { $0.open == 0 }
        #expect(server.requests.isEmpty)
        #expect(server.failures.isEmpty)
    }

    @Test func `a connection that is never accepted is completed by the kernel alone`() throws {
        let server = try LoopbackServer()
        server.onConnect(.accept, .neverAccept)
        let first = try Peer(server.address)
        first.send(.get())
        #expect(first.readResponse().hasPrefix("HTTP/1.1 404"))
        let second = try Peer(server.address)
        second.send(.get())
        let third = try Peer(server.address)
        #expect(server.connectionCount == 1)
        server.stop()
        #expect(second.readToEnd().ending == .reset)
        #expect(third.readToEnd().ending == .reset)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [LoopbackServer.Endpoint.ipv4, .ipv6, .abstract])
    func `a connection does not complete where the server is told so`(endpoint: LoopbackServer.Endpoint) throws {
        var configuration = LoopbackServer.Configuration()
        configuration.completesConnections = false
        let server = try LoopbackServer(endpoint, configuration: configuration)
        for _ in 0..<2 {
            let refused = #expect(throws: Peer.Refused.self) { _ = try Peer(server.address, connectLimit: 20_000) }
            #expect([EINPROGRESS, EAGAIN].contains(refused?.code))
        }
        #expect(server.connectionCount == 0)
        #expect(server.failures.isEmpty)
    }

    @Test func `a closure decides by index once the queue is empty`() throws {
        let server = try LoopbackServer()
        server.onConnect { $0 == 2 ? .resetAtOnce : .closeAtOnce }
        server.onConnect(.accept)
        let first = try Peer(server.address)
        first.send(.get())
        #expect(first.readResponse().hasPrefix("HTTP/1.1 404"))
        #expect(try Peer(server.address).readToEnd().ending == .closed)
        #expect(try Peer(server.address).readToEnd().ending == .reset)
    }
}
