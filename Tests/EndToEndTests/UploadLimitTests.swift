import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// Which limits count while a body is sent, and from when.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `The limits of an upload` {
    typealias Producer = `Both directions at once`.Producer

    private static let limit = Duration.seconds(5)

    /// The limit that is meant is the only one.
    private static func only(_ phase: HTTP.Phase) -> Timeouts {
        var timeouts = Timeouts.none
        timeouts[Timeouts.Limit(phase)] = limit
        return timeouts
    }

    private static let beginning: LoopbackServer.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwh")

    /// A body that is read from another server, which breaks off.
    @Test func `an upload whose body lost a connection of its own fails at once, whatever the server waits for`()
        async throws
    {
        try await Stage.with(tolerating: true) {
            $0.timeouts = .none
            $0.retry = .constant(attempts: 3, every: .zero)
        } _: { (stage: Stage) async throws in
            stage.server.route(.post, "/up", [.stall])
            // It was a GET over a connection that had been used, which might be sent again.
            var broken = NetworkError(.connectionClosed, "the source broke off", isSafeToRetry: true)
            broken.connectionWasReused = true
            let body = RequestBody.replayable { [broken] in BrokenChunks(error: broken) }
            let error = try await NetworkError.thrown {
                _ = try await stage.session.post("up", body: body, as: .bytes)
            }
            #expect(error.code == .connectionClosed && error.description.contains("the source broke off"))
            #expect(error.requestMayHaveBeenSent && !error.isSafeToRetry && error.attempts == 1)
            try await stage.expectHealthy()
        }
    }

    /// The peer has read all that there is.
    @Test func `an upload whose body brings nothing more says so, and not that the peer stopped reading`() async throws
    {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) {
            $0.timeouts = .none
            $0.timeouts.total = Self.limit
        } _: { (stage: Stage) async throws in
            stage.server.enqueue(LoopbackServer.Reply([.stall]))
            let producer = Producer()
            let task = Task { try await stage.session.post("up", body: producer.body, as: .bytes) }
            producer.permits.continuation.yield("a piece")
            try await stage.eventually("the piece is sent") { producer.made.load(ordering: .relaxed) == 2 }
            try await clock.advance(by: .milliseconds(100), until: "it is over") {
                await stage.session.tasks.count == 0
            }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .timedOut && error.phase == .send && error.exceeded == .total)
            #expect(error.reason.contains("its body produced no more bytes"))
            producer.permits.continuation.finish()
        }
    }

    @Test(arguments: [HTTP.Phase.firstByte, .receive], [0, 3])
    func `the limits of the answer count from the end of an upload, and not before`(
        phase: HTTP.Phase, minutes: Int
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) {
            $0.timeouts = Self.only(phase)
        } _: { (stage: Stage) async throws in
            let reply: LoopbackServer.Reply = phase == .firstByte ? [.stall] : [Self.beginning, .stall]
            stage.server.enqueue(phase == .firstByte ? reply : reply.beforeBody)
            let producer = Producer()
            let task = Task { try await stage.session.post("up", body: producer.body, as: .bytes) }
            producer.permits.continuation.yield("first")
            try await stage.eventually("the first piece is sent") { producer.made.load(ordering: .relaxed) == 2 }
            for _ in 0..<minutes { try await clock.advance(by: .seconds(60)) }
            #expect(await stage.session.tasks.count == 1)
            producer.permits.continuation.finish()
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: Self.limit - .nanoseconds(1))
            #expect(await stage.session.tasks.count == 1)
            try await clock.advance(by: .nanoseconds(1))
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .timedOut && error.phase == phase)
            #expect(error.exceeded == Timeouts.Limit(phase) && error.limit == Self.limit)
            #expect(error.elapsed == Self.limit, "it is the wait's own time")
            #expect(error.requestMayHaveBeenSent && !error.isSafeToRetry)
            try await stage.expectHealthy()
        }
    }

    /// What has come of the answer by the end of the upload, and what is to come.
    private static let answers: [(LoopbackServer.Step, LoopbackServer.Step)] = [
        (.send("H"), .send("TTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole")),
        (.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 20"), .send("0 OK\r\nContent-Length: 5\r\n\r\nwhole")),
        (.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), .send("whole")),
        (beginning, .send("ole")),
    ]

    @Test(arguments: answers)
    func `the limit of the first byte is none once that has come, however the upload ends`(
        before: LoopbackServer.Step, after: LoopbackServer.Step
    ) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.timeouts = Self.only(.firstByte)
        } _: { (stage: Stage) async throws in
            let (begun, ended, gate) = (LoopbackServer.Gate(), LoopbackServer.Gate(), LoopbackServer.Gate())
            let reply = LoopbackServer.Reply([before, .signal(begun), .waitForSignal(gate), after])
            stage.server.enqueue(reply.beforeBody)
            let body = RequestBody.stream(UploadPieces(total: 100, size: 100, end: ended))
            async let answer = stage.session.post("up", body: body, as: .string)
            try await ended.opened()
            try await begun.opened()
            for _ in 0..<20 { try await clock.advance(by: .seconds(6)) }
            gate.open()
            #expect(try await answer.value == "whole")
            try await stage.expectHealthy()
        }
    }

    @Test(arguments: [HTTP.Phase.firstByte, .receive])
    func `a suspended upload that waits for its answer runs into no limit of it`(phase: HTTP.Phase) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.timeouts = Self.only(phase)
        } _: { (stage: Stage) async throws in
            let gate = LoopbackServer.Gate()
            let reply: LoopbackServer.Reply =
                phase == .firstByte
                ? LoopbackServer.Reply.response(body: "whole").waiting(for: gate)
                : LoopbackServer.Reply([Self.beginning, .waitForSignal(gate), .send("ole")]).beforeBody
            stage.server.enqueue(reply)
            let producer = Producer()
            let task = try stage.session.task("up", method: .post, body: producer.body, as: .string)
            task.resume()
            producer.permits.continuation.yield("first")
            try await stage.eventually("the first piece is sent") { producer.made.load(ordering: .relaxed) == 2 }
            producer.permits.continuation.finish()
            try await clock.waitForDeadlines(1)
            try await clock.advance(by: .seconds(3))
            task.suspend()
            for _ in 0..<3 { try await clock.advance(by: .seconds(60)) }
            #expect(task.resultIfEnded == nil)
            task.resume()
            try await clock.advance(by: .seconds(1))
            #expect(task.resultIfEnded == nil)
            gate.open()
            #expect(try await task.value == "whole")
        }
    }
}

/// Breaks off after the first.
private struct BrokenChunks: AsyncSequence, Sendable {
    let error: NetworkError

    func makeAsyncIterator() -> AsyncThrowingStream<Bytes, any Error>.Iterator {
        AsyncThrowingStream<Bytes, any Error> { stream in
            stream.yield("first")
            stream.finish(throwing: error)
        }.makeAsyncIterator()
    }
}
