import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// What ends a request whose response is in a scope, although nobody reads there.
@Suite(.timeLimit(.minutes(10))) struct `A scope that does not read` {
    enum End: CaseIterable { case registry, shutdown, restart, total }

    /// A long body, of which the beginning comes at once.
    private static func withStage(_ work: @Sendable @escaping (Stage, ManualClock) async throws -> Void) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.connections.perOrigin = 1
            $0.timeouts = .none
            $0.timeouts.total = .seconds(60)
        } _: { (stage: Stage) async throws in
            stage.server.respond { request in
                request.target == "/long"
                    ? .response(body: Bytes(String(repeating: "a", count: 4_000_000))) : .response(body: "short")
            }
            try await work(stage, clock)
        }
    }

    @Test(arguments: End.allCases)
    func `loses its connection when its request ends, and reads the reason`(end: End) async throws {
        try await Self.withStage { stage, clock in
            let session = stage.session
            let (entered, left) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            let scope = Task {
                try await session.withResponse(from: "long") { response in
                    entered.open()
                    try await left.opened()
                    return try await networkError { for try await _ in response.body {} }
                }
            }
            try await entered.opened()
            switch end {
            case .registry: await session.tasks.cancelAll()
            case .shutdown: await session.shutdown()
            case .restart: await session.restart()
            case .total: try await clock.advance(by: .seconds(61))
            }
            try await stage.eventually("the request is over") { await session.tasks.count == 0 }
            if end != .shutdown { #expect(try await session.get("next", as: .string).value == "short") }
            left.open()
            let error = try #require(try await scope.value)
            #expect(error.code == (end == .total ? .timedOut : .cancelled), "\(error)")
            #expect(error.request?.url.hasSuffix("/long") == true)
        }
    }

    @Test func `goes on beyond the total of its request once everything is read`() async throws {
        let ended = Mutex<[NetworkError.Code?]>([])
        let clock = ManualClock()
        try await Stage.with(clock: clock) {
            $0.timeouts = .none
            $0.timeouts.total = .seconds(60)
            $0.hooks.completed = { end in ended.withLock { $0.append((end.error as? NetworkError)?.code) } }
        } _: { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: Bytes(String(repeating: "a", count: 1_000_000))) }
            let count = try await stage.session.withResponse(from: "x") { response in
                var count = 0
                for try await piece in response.body { count += piece.count }
                try await clock.advance(by: .seconds(61))
                return count
            }
            #expect(count == 1_000_000)
        }
        #expect(ended.withLock { $0 } == [nil])
    }

    @Test func `reads a body that came with its head also after a cancel`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "short") }
            let session = stage.session
            let text = try await session.withResponse(from: "x") { response in
                // From outside the scope, whose own request it would leave out.
                await Task.detached { _ = await session.tasks.cancelAll() }.value
                var text = ""
                for try await piece in response.body { text += String(decoding: piece.array, as: UTF8.self) }
                return text
            }
            #expect(text == "short")
        }
    }
}
