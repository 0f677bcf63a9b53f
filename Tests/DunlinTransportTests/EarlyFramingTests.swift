import DunlinReactor
import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinTransport

@Suite(.timeLimit(.minutes(10))) struct `An early answer that says nothing certain of its body` {
    /// One piece, and then nothing until it is told to stop.
    private struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
        /// For another piece.
        let asked = LoopbackServer.Gate()
        let stopped = LoopbackServer.Gate()
        var isFirst = true

        func makeAsyncIterator() -> Endless { self }

        mutating func next() async throws -> Bytes? {
            defer { isFirst = false }
            if isFirst { return "piece" }
            asked.open()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            stopped.open()
            return nil
        }
    }

    /// Where a body is sent, others may be sent next, so that its scope goes on.
    @Test(arguments: [
        "200 OK\r\nContent-Length: 5\r\nContent-Length: 6", "200 OK\r\nContent-Length: many",
        "101 Switching Protocols\r\nUpgrade: other",
    ])
    func `an early answer of uncertain framing fails the exchange, and cancels its upload`(head: String) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let producer = Endless()
        let reply: LoopbackServer.Reply = [
            .waitForSignal(producer.asked), .send(Bytes("HTTP/1.1 \(head)\r\n\r\n")), .stall,
        ]
        server.enqueue(reply.beforeBody)
        let reactor = try Reactor(name: "early")
        defer { reactor.retire() }
        let transport = SocketTransport(SocketTransport.Options(), on: reactor)
        let body = RequestBody(.stream(length: nil, isReplayable: false) { producer }, contentType: nil)
        let origin = HTTP.Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        let request = TransportRequest(head: RequestHead(method: .post, origin: origin, target: "/"), body: body)
        try await withTaskExecutorPreference(reactor) {
            let uploads = UploadScope()
            async let _: Void = uploads.run()
            let error = await #expect(throws: NetworkError.self) {
                _ = try await transport.exchange(
                    request, cancellation: Cancellation(), uploads: uploads, since: reactor.now(), on: reactor)
            }
            #expect(error?.code == .invalidResponse && error?.requestMayHaveBeenSent == true)
            try await producer.stopped.opened()
        }
        await transport.close()
        try await eventually("all is closed", following: Turns(of: reactor)) { reactor.ledger.openChannels == 0 }
    }
}
