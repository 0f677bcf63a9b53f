import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The phases of a hop` {
    /// What the server sends, each a second after the last was read.
    private static let pieces: [Bytes] = [
        "HTTP/1.1 103 Early Hints\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "Content-Length: 4\r\n\r\n", "bo", "dy",
    ]

    @Test(arguments: [false, true])
    func `a head that comes piece by piece is received from its first byte on, and the phases leave no gap`(
        hasBody: Bool
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) { (stage: Stage) async throws in
            let isThere = LoopbackServer.Gate()
            let gates = Self.pieces.map { _ in LoopbackServer.Gate() }
            let steps = zip(Self.pieces, gates).flatMap { piece, gate -> [LoopbackServer.Step] in
                [.waitForSignal(gate), .send(piece)]
            }
            stage.server.enqueue(LoopbackServer.Reply([.signal(isThere)] + steps))
            let body = hasBody ? RequestBody.stream(UploadPieces(total: 10, size: 5), length: 10) : .none
            let trace = stage.session.trace(bytes: 1, showingSecrets: true)
            async let answer = stage.session.request("slow", method: .post, body: body, as: .string)
            try await isThere.opened()
            var events = trace.makeAsyncIterator()
            for gate in gates {
                try await clock.advance(by: .seconds(1))
                gate.open()
                while let event = await events.next() {
                    if case .step(.received, _) = event { break }
                }
            }
            let response = try await answer
            #expect(response.value == "body")
            let hop = try #require(response.metrics.hops.last)
            // An interim response ends no wait.
            #expect(hop.duration(of: .firstByte) == .seconds(3) && hop.duration(of: .receive) == .seconds(3))
            #expect(hop.total == .seconds(6))
        }
    }
}
