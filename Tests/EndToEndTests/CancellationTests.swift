import Dunlin
import DunlinTesting
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `A cancelled request` {
    @Test(arguments: Predicament.allCases)
    func `a request ends at once when its Swift task is cancelled`(predicament: Predicament) async throws {
        try await Self.stuck(predicament) { (stage: Stage, task: Task<Void, any Error>) async throws in
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(arguments: Predicament.allCases)
    func `a request ends at once when it is cancelled through the registry`(predicament: Predicament) async throws {
        try await Self.stuck(predicament) { (stage: Stage, task: Task<Void, any Error>) async throws in
            let id = try #require(await stage.session.tasks.all.last?.id)
            #expect(await stage.session.tasks.cancel(id))
            let error = try await NetworkError.thrown { try await task.value }
            #expect(error.code == .cancelled)
            // What the server has sent may not have been read yet.
            #expect(error.phase == predicament.phase || predicament.phase == .receive && error.phase == .firstByte)
        }
    }

    @Test(arguments: Predicament.allCases)
    func `a shutdown cancels a request in any phase, and later requests are refused`(predicament: Predicament)
        async throws
    {
        try await Self.stuck(predicament, staysHealthy: false) {
            (stage: Stage, task: Task<Void, any Error>) async throws in
            #expect(await stage.session.shutdown() > 0)
            #expect(await stage.session.tasks.count == 0)
            let error = try await NetworkError.thrown { try await task.value }
            #expect(error.code == .cancelled)
            let late = try await NetworkError.thrown { _ = try await stage.session.get("late", as: .bytes) }
            #expect(late.code == .sessionShutDown)
        }
    }

    @Test(arguments: Predicament.allCases)
    func `a request never begins when its Swift task was cancelled before`(predicament: Predicament) async throws {
        try await Stage.with(server: predicament.server, tolerating: true, configure: predicament.configure) {
            (stage: Stage) async throws in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await predicament.request(stage)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(stage.server.requests.isEmpty && stage.server.connectionCount == 0)
        }
    }

    @Test(arguments: Predicament.allCases)
    func `a request ends once, however often and from wherever it is cancelled`(predicament: Predicament) async throws {
        var events: AsyncStream<HTTPSession.Event>?
        try await Self.stuck(
            predicament, staysHealthy: false, before: { events = $0.session.events(bufferingNewest: 1000) }
        ) {
            (stage: Stage, task: Task<Void, any Error>) async throws in
            let id = try #require(await stage.session.tasks.all.last?.id)
            async let byHandle = stage.session.tasks.cancel(id)
            task.cancel()
            async let bySession = stage.session.shutdown()
            await #expect(throws: (any Error).self) { try await task.value }
            _ = await (byHandle, bySession)
            var ends = 0
            for await event in try #require(events) {
                if case .completed(let completion) = event, completion.task.id == id { ends += 1 }
            }
            #expect(ends == 1)
        }
    }

    @Test(arguments: Predicament.allCases, [true, false])
    func `a cancelled request has its metrics`(predicament: Predicament, byHandle: Bool) async throws {
        var events: AsyncStream<HTTPSession.Event>?
        try await Self.stuck(
            predicament, staysHealthy: false, before: { events = $0.session.events(bufferingNewest: 1000) }
        ) {
            (stage: Stage, task: Task<Void, any Error>) async throws in
            let id = try #require(await stage.session.tasks.all.last?.id)
            if byHandle { _ = await stage.session.tasks.cancel(id) } else { task.cancel() }
            await #expect(throws: (any Error).self) { try await task.value }
            await stage.session.shutdown()
            var metrics: HTTPSession.Metrics?
            for await case .completed(let completion) in try #require(events) where completion.task.id == id {
                metrics = completion.metrics
            }
            let hop = try #require(metrics?.hops.first)
            #expect(metrics?.hops.count == 1 && hop.ended >= hop.started)
            // What an upload had sent is known at its end.
            if predicament != .send {
                #expect((hop.bytesSent > 0) == [.firstByte, .receive].contains(predicament.phase))
            }
        }
    }

    /// Gets a request stuck, lets `play` free it, and shows that the session did not suffer.
    private static func stuck(
        _ predicament: Predicament, staysHealthy: Bool = true, before: (Stage) -> Void = { _ in },
        _ play: (Stage, Task<Void, any Error>) async throws -> Void
    ) async throws {
        guard predicament.isPossible else { return }
        try await Stage.with(server: predicament.server, tolerating: true, configure: predicament.configure) {
            (stage: Stage) async throws in
            predicament.prepare(stage)
            before(stage)
            let occupant = try await predicament.occupy(stage)
            let task = Task { try await predicament.request(stage) }
            try await predicament.waitUntilStuck(stage)
            try await play(stage, task)
            occupant?.cancel()
            _ = await occupant?.result
            #expect(await stage.session.tasks.count == 0)
            guard staysHealthy, predicament != .connect else { return }
            try await stage.expectHealthy()
            #expect(stage.session.connections.open == 1, "no connection of the cancelled request is left")
        }
    }
}
