import Dunlin
import DunlinTesting
import Glibc
import Synchronization
import Testing

/// Holds a thread until a hundred requests have ended, or for as long as is waited for them.
final class Holdup: Sendable {
    static let count = 100

    private let limit: Duration
    /// Opened when the requests are about to be made, and wait for no thread but the loop's.
    let ready = LoopbackServer.Gate()
    private let hasBegun = Atomic<Bool>(false)
    private let ended = Atomic<Int>(0)
    private let seen = Mutex<Int?>(nil)

    init(upTo limit: Duration = .seconds(60)) {
        self.limit = limit
    }

    /// How many requests ended while the thread was held; nil if it never was.
    var endedMeanwhile: Int? { seen.withLock { $0 } }

    /// Blocks the calling thread, once.
    func block() {
        if hasBegun.exchange(true, ordering: .relaxed) { return }
        let start = ContinuousClock.now
        while ended.load(ordering: .relaxed) < Self.count, start.duration(to: .now) < limit { usleep(500) }
        let count = ended.load(ordering: .relaxed)
        seen.withLock { $0 = count }
    }

    /// The requests, once the thread is held. They are made on the loop, and need no other thread.
    func getOthers(of session: HTTPSession) async throws {
        try await session.onEventLoop { @concurrent [self] in
            ready.open()
            try await eventually("a thread is held") { hasBegun.load(ordering: .relaxed) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.count {
                    group.addTask { [self] in
                        let value = try await session.get("other", as: .string).value
                        #expect(value == "x")
                        ended.add(1, ordering: .relaxed)
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

/// The threads for the program's own code are few, and each of these holds one; the requests that let it go need none.
@Suite(.timeLimit(.minutes(10))) struct `Code that blocks its thread` {
    @Test(arguments: BlockingCode.allCases)
    func `code that blocks its thread delays no other request, though all share a loop`(code: BlockingCode) async throws
    {
        try await Self.play(code) { (request: BlockingRequest, stage: Stage) async throws in
            try await request.make(on: stage)
        }
    }

    @Test(arguments: BlockingCode.allCases.filter { !$0.isCallers })
    func `code that blocks delays no other request, even if its own request was made on the loop`(code: BlockingCode)
        async throws
    {
        try await Self.play(code) { (request: BlockingRequest, stage: Stage) async throws in
            try await stage.session.onEventLoop { @concurrent in try await request.make(on: stage) }
        }
    }

    /// What the others would see if code were called on the loop.
    @Test func `code that blocks the loop itself delays all requests`() async throws {
        let holdup = Holdup(upTo: .milliseconds(200))
        try await Stage.with(oneLoop: true) { (stage: Stage) async throws in
            stage.server.route(.get, "/other", .response(body: "x"))
            async let others: Void = holdup.getOthers(of: stage.session)
            try await holdup.ready.opened(within: .seconds(300))
            try await stage.session.onEventLoop { @concurrent in holdup.block() }
            try await others
        }
        #expect(holdup.endedMeanwhile == 0)
    }

    private static func play(
        _ code: BlockingCode, _ make: (BlockingRequest, Stage) async throws -> Void
    ) async throws {
        let holdup = Holdup()
        let request = BlockingRequest(code, holdup)
        try await Stage.$isSecure.withValue(request.isSecure) {
            try await Stage.with(oneLoop: true, configure: request.configure) { (stage: Stage) async throws in
                stage.server.route(.get, "/other", .response(body: "x"))
                async let others: Void = holdup.getOthers(of: try request.others(beside: stage))
                try await holdup.ready.opened(within: .seconds(300))
                try await make(request, stage)
                try await others
            }
        }
        #expect(holdup.endedMeanwhile == Holdup.count)
    }
}
