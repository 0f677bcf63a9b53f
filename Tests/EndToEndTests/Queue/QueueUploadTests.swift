import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10))) struct `A turn in the queue` {
    /// One piece; and when it is told to stop, nothing until the door opens.
    private struct Reluctant: AsyncSequence, AsyncIteratorProtocol, Sendable {
        /// For another piece.
        let asked = LoopbackServer.Gate()
        let stopped = LoopbackServer.Gate()
        let door = Settlement<Void>()
        var isFirst = true

        func makeAsyncIterator() -> Reluctant { self }

        mutating func next() async throws -> Bytes? {
            defer { isFirst = false }
            if isFirst { return "piece" }
            asked.open()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            stopped.open()
            await door.value
            return nil
        }
    }

    /// The answer to the first is here, and its body is still being made.
    @Test func `a turn in the queue is given back when the upload has ended, and not before`() async throws {
        try await Stage.with(tolerating: true, configure: { $0.queue = .init(running: 1) }) {
            (stage: Stage) async throws in
            let producer = Reluctant()
            let refusal = LoopbackServer.Reply.response(401, body: "no").then(.stall).beforeBody
            stage.server.enqueue(refusal.waiting(for: producer.asked))
            stage.server.route(.get, "/second", .response(body: "x"))
            let first = try stage.session.task("first", method: .post, body: .stream(producer), as: .bytes)
            first.resume()
            try await producer.stopped.opened()
            let second = try stage.session.task("second", as: .string)
            second.resume()
            var looks = 0
            try await stage.eventually("the loop's rest", every: .milliseconds(2)) {
                looks = stage.loop.isResting ? looks + 1 : 0
                return looks == 30
            }
            #expect(stage.server.requests.allSatisfy { $0.target != "/second" } && first.resultIfEnded == nil)
            producer.door.settle(())
            #expect(try await second.value == "x")
            let error = try await NetworkError.thrown { _ = try await first.value }
            #expect(error.response?.status == 401)
        }
    }
}
