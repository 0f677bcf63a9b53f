import Dunlin
import DunlinTesting
import Testing

/// The waits that only a request with a body of its own knows.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A cancelled upload` {
    enum Moment: CaseIterable, Sendable {
        /// The server has not said whether it wants the body.
        case leave
        /// The body's producer makes up its mind.
        case producer
        /// So it does, and all of the response is here.
        case answered

        var phase: HTTP.Phase { self == .leave ? .firstByte : .send }

        var reply: LoopbackServer.Reply {
            self == .answered ? LoopbackServer.Reply.response(body: "early").then(.stall).beforeBody : silence
        }

        private var silence: LoopbackServer.Reply { LoopbackServer.Reply([.stall]).beforeBody }

        func request(_ stage: Stage) async throws {
            var options = HTTPSession.Options()
            options.continueTimeout = .seconds(1000)
            options.expectsContinue = self == .leave
            let body: RequestBody = self == .leave ? .bytes("small") : .stream(Hesitating())
            _ = try await stage.session.post("up", body: body, options: options, as: .bytes)
        }
    }

    /// One piece, and then nothing until it is cancelled.
    private struct Hesitating: AsyncSequence, AsyncIteratorProtocol, Sendable {
        var isFirst = true

        func makeAsyncIterator() -> Hesitating { self }

        mutating func next() async throws -> Bytes? {
            defer { isFirst = false }
            if isFirst { return "piece" }
            for await _ in AsyncStream<Void>.makeStream().stream {}
            throw CancellationError()
        }
    }

    @Test(arguments: Moment.allCases)
    func `an upload ends at once when its Swift task is cancelled`(moment: Moment) async throws {
        try await Self.stuck(moment) { (stage: Stage, task: Task<Void, any Error>) async throws in
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(arguments: Moment.allCases)
    func `an upload ends at once when it is cancelled through the registry`(moment: Moment) async throws {
        try await Self.stuck(moment) { (stage: Stage, task: Task<Void, any Error>) async throws in
            let id = try #require(await stage.session.tasks.all.last?.id)
            #expect(await stage.session.tasks.cancel(id))
            let error = try await NetworkError.thrown { try await task.value }
            #expect(error.code == .cancelled && error.phase == moment.phase)
        }
    }

    @Test(arguments: Moment.allCases)
    func `an upload ends once, however often and from wherever it is cancelled`(moment: Moment) async throws {
        var events: AsyncStream<HTTPSession.Event>?
        try await Self.stuck(moment, before: { events = $0.session.events(bufferingNewest: 1000) }) {
            (stage: Stage, task: Task<Void, any Error>) async throws in
            let id = try #require(await stage.session.tasks.all.last?.id)
            async let byHandle = stage.session.tasks.cancel(id)
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            _ = await byHandle
            try await stage.expectHealthy()
            await stage.session.shutdown()
            var ends = 0
            for await event in try #require(events) {
                if case .completed(let completion) = event, completion.task.id == id { ends += 1 }
            }
            #expect(ends == 1)
        }
    }

    private static func stuck(
        _ moment: Moment, before: (Stage) -> Void = { _ in },
        _ play: (Stage, Task<Void, any Error>) async throws -> Void
    ) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(moment.reply)
            before(stage)
            let task = Task { try await moment.request(stage) }
            _ = try await stage.server.waitForRequests(1)
            if moment == .answered { try await stage.server.wait { $0.bytesSent > 0 } }
            try await play(stage, task)
            #expect(await stage.session.tasks.count == 0)
            #expect(stage.session.connections.open <= 1, "no connection of the cancelled request is left")
        }
    }
}
