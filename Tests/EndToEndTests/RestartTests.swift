import Dunlin
import DunlinTesting
import Folders
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Restarting a session` {
    /// Holds up what ends a session, at the hook that is told of the end: the first so many times, each at a gate of
    /// its own.
    private final class Holding: Sendable {
        let told: [LoopbackServer.Gate]
        let goOn: [LoopbackServer.Gate]
        private let calls = Atomic(0)

        init(_ count: Int) {
            told = (0..<count).map { _ in LoopbackServer.Gate() }
            goOn = (0..<count).map { _ in LoopbackServer.Gate() }
        }

        func hold() async {
            let call = calls.add(1, ordering: .relaxed).oldValue
            guard call < told.count else { return }
            told[call].open()
            do { try await goOn[call].opened() } catch { Issue.record(error) }
        }
    }

    private final class Flag: Sendable {
        private let state = Atomic(false)
        var isUp: Bool { state.load(ordering: .relaxed) }
        func raise() { state.store(true, ordering: .relaxed) }
    }

    @Test func `a session that is shut down while it restarts stays shut down`() async throws {
        let holding = Holding(1)
        try await Stage.with(configure: { $0.hooks.shutDown = { await holding.hold() } }) {
            (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            let session = stage.session
            let restart = Task { await session.restart() }
            try await holding.told[0].opened()
            await session.shutdown()
            holding.goOn[0].open()
            _ = await restart.value
            #expect(session.isShutDown)
            let error = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
            #expect(error.code == .sessionShutDown)
            #expect(stage.server.requests.isEmpty)
            // Nobody shuts it down meanwhile.
            await session.restart()
            #expect(try await session.get("x", as: .string).value == "x")
        }
    }

    @Test func `the later of two restarts opens the session, and the earlier ends nothing of it`() async throws {
        let (holding, folder) = (Holding(1), try Folder())
        try await Stage.with(
            oneLoop: true,
            configure: {
                $0.cache = HTTPSession.Cache()
                $0.hooks.shutDown = { await holding.hold() }
            }
        ) { (stage: Stage) async throws in
            let session = stage.session
            stage.server.respond { _ in .response(body: "x") }
            let earlier = Task { await session.restart() }
            try await holding.told[0].opened()
            await session.restart()
            let first = try await session.get("x", as: .string)
            #expect(first.value == "x")
            let events = session.events
            holding.goOn[0].open()
            _ = await earlier.value
            let second = try await session.get("x", as: .string)
            let hops = try [first, second].map { try #require($0.metrics.hops.last) }
            #expect(hops[1].connection == hops[0].connection && hops[1].isConnectionReused)
            try await Self.expectOpen(stage, folder, events)
        }
    }

    @Test func `a restart that is followed by another leaves it to that to open the session`() async throws {
        let (holding, folder) = (Holding(2), try Folder())
        try await Stage.with(
            configure: {
                $0.cache = HTTPSession.Cache()
                $0.hooks.shutDown = { await holding.hold() }
            }
        ) { (stage: Stage) async throws in
            let session = stage.session
            let earlier = Task { await session.restart() }
            try await holding.told[0].opened()
            let later = Task { await session.restart() }
            try await holding.told[1].opened()
            holding.goOn[0].open()
            _ = await earlier.value
            #expect(session.isShutDown)
            let error = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
            #expect(error.code == .sessionShutDown)
            holding.goOn[1].open()
            _ = await later.value
            try await Self.expectOpen(stage, folder, session.events)
        }
    }

    /// The restart is within a request, which it leaves out, and the shutdown waits for.
    @Test func `a shutdown that a restart overtakes while it waits ends nothing of the open session`() async throws {
        let (clock, folder, gate) = (ManualClock(), try Folder(), LoopbackServer.Gate())
        try await Stage.with(
            clock: clock,
            configure: {
                $0.timeouts = .none
                $0.cache = HTTPSession.Cache()
            }
        ) { (stage: Stage) async throws in
            let session = stage.session
            stage.server.route(.get, "/held", .response(body: "late").after(.waitForSignal(gate)))
            stage.server.route(.get, "/long", LoopbackServer.Reply.generated(length: 500_000).stallingAfter(100_000))
            let isOver = Flag()
            let events = try await session.withResponse(from: "long") { _ in
                let shutdown = Task.detached {
                    defer { isOver.raise() }
                    return await session.shutdown(grace: .seconds(10))
                }
                try await stage.eventually("the session takes no more") { session.isShutDown }
                await session.restart()
                async let held = session.get("held", as: .string).value
                _ = try await stage.server.waitForRequests(2)
                let events = session.events
                try await clock.advance(by: .seconds(10), until: "the end of the shutdown") { isOver.isUp }
                #expect(await shutdown.value == 0)
                #expect(!session.isShutDown)
                gate.open()
                #expect(try await held == "late")
                return events
            }
            try await Self.expectOpen(stage, folder, events)
        }
    }

    @Test func `a shutdown that a restart overtakes waits for what it ended, and not for what came later`() async throws
    {
        try await Self.endMeanwhile {
            await $0.shutdown()
        } _: { session in
            #expect(session.isShutDown)
            await session.restart()
        }
    }

    @Test func `cancelAll does not wait for requests that begin meanwhile`() async throws {
        try await Self.endMeanwhile { await $0.tasks.cancelAll() }
    }

    /// Has `end` end all that a session does, while a request's hook is told its end and calls `then`. `end` waits for
    /// it. A request that comes meanwhile is none of those.
    private static func endMeanwhile(
        _ end: @escaping @Sendable (HTTPSession) async -> Int,
        _ then: @escaping @Sendable (HTTPSession) async -> Void = { _ in }
    ) async throws {
        let (gate, told) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        try await Stage.with { (stage: Stage) async throws in
            let session = stage.session
            stage.server.route(.get, "/held", .response(body: "late").after(.waitForSignal(gate)))
            stage.server.route(.get, "/long", LoopbackServer.Reply.generated(length: 500_000).stallingAfter(100_000))
            let (isOver, isToldOff) = (Flag(), LoopbackServer.Gate())
            var options = HTTPSession.Options()
            options.hooks.completed = { _ in
                await then(session)
                told.open()
                do { try await isToldOff.opened() } catch { Issue.record(error) }
            }
            let long = try session.task("long", options: options, as: .bytes)
            long.resume()
            _ = try await stage.server.waitForRequests(1)
            let ending = Task.detached {
                defer { isOver.raise() }
                return await end(session)
            }
            try await told.opened()
            let held = Task.detached { try await session.get("held", as: .string).value }
            _ = try await stage.server.waitForRequests(2)
            #expect(!isOver.isUp)
            isToldOff.open()
            try await stage.eventually("what ends all is over") { isOver.isUp }
            #expect(await ending.value == 1)
            gate.open()
            #expect(try await held.value == "late")
        }
    }

    /// Expects that journals are kept, that the session asks in the background about what is stored, and that those who
    /// have been listening are told of that.
    private static func expectOpen(
        _ stage: Stage, _ folder: Folder, _ events: AsyncStream<HTTPSession.Event>
    ) async throws {
        let session = stage.session
        #expect(!session.isShutDown)
        let journal = try await TransferJournal(in: folder.path + "/journal", of: session)
        #expect(journal.transfers.isEmpty)
        let aged: Fields = ["Cache-Control": "max-age=0, stale-while-revalidate=100000"]
        stage.server.route(.get, "/aged", .response(fields: aged, body: "aged"))
        for _ in 1...2 { #expect(try await session.get("aged", as: .string).value == "aged") }
        try await stage.eventually("a question in the background") {
            stage.server.requests.count { $0.target == "/aged" } == 2
        }
        var isTold = false
        for await event in events {
            if case .shutDown = event { break }
            guard case .completed(let completion) = event, completion.url.hasSuffix("aged") else {
                continue
            }
            isTold = true
            break
        }
        #expect(isTold)
    }
}
