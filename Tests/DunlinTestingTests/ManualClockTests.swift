import Dunlin
import Synchronization
import Testing

@testable import DunlinTesting

@Suite(.timeLimit(.minutes(10))) struct ManualClockTests {
    @Test func `a sleeper wakes when the clock has been moved far enough`() async throws {
        let clock = ManualClock()
        let task = Task {
            try await clock.sleep(for: .seconds(2))
            return clock.now.offset
        }
        try await clock.waitForSleepers()
        try await clock.advance(by: .milliseconds(1999))
        try await clock.waitForSleepers()
        try await clock.advance(by: .milliseconds(1))
        #expect(try await task.value == .seconds(2))
    }

    @Test func `instants are calculated with like those of any clock`() async throws {
        let clock = ManualClock()
        let start = clock.now
        try await clock.advance(by: .seconds(3))
        #expect(clock.now - start == .seconds(3))
        #expect(clock.now - .seconds(1) == start + .seconds(2))
    }

    @Test func `a cancelled sleeper wakes at once`() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.now.offset == .zero)
    }

    @Test func `skipped waits take no more time than was slept, one after the other`() async throws {
        let clock = ManualClock()
        for _ in 0..<300 {
            try await clock.skippingWaits {
                for _ in 0..<2 { try await clock.sleep(for: .seconds(1)) }
            }
        }
        #expect(clock.now.offset == .seconds(600))
    }

    @Test func `the error that kept the clock from moving is thrown, and no sleeper is left`() async throws {
        struct Restless: Error {}
        let attempts = Atomic(0)
        let clock = ManualClock(Standstill()) {
            if attempts.add(1, ordering: .relaxed).oldValue == 0 { throw Restless() }
        }
        await #expect(throws: Restless.self) {
            try await clock.skippingWaits { try await clock.sleep(for: .seconds(1)) }
        }
        #expect(clock.now.offset == .seconds(1))
        try await clock.skippingWaits { try await clock.sleep(for: .seconds(1)) }
        #expect(clock.now.offset == .seconds(2))
    }

    @Test func `cancels and moves that race wake every sleeper`() async throws {
        let clock = ManualClock()
        let start = clock.now
        let woken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for round in 0..<200 {
                let sleeper = Task { try await clock.sleep(until: start.advanced(by: .milliseconds(round % 7))) }
                if round % 2 == 0 {
                    group.addTask {
                        sleeper.cancel(); return false
                    }
                }
                group.addTask {
                    try await sleeper.value; return true
                }
            }
            for _ in 0..<7 { try await clock.advance(by: .milliseconds(1)) }
            var woken = 0
            while let result = await group.nextResult() {
                if case .success(true) = result { woken += 1 }
            }
            return woken
        }
        // A cancelled one may have been woken before.
        #expect(woken >= 100)
    }

    @Test(arguments: [Timeouts.Limit.firstByte, .readIdle, .total])
    func `a real socket times out when the clock is moved, and not before`(limit: Timeouts.Limit) async throws {
        let server = try LoopbackServer()
        let sent = LoopbackServer.Gate()
        let stall: [LoopbackServer.Step] =
            limit == .readIdle
            ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .signal(sent), .stall]
            : [.signal(sent), .stall]
        server.enqueue(LoopbackServer.Reply(stall))
        let clock = ManualClock()
        var timeouts = Timeouts(firstByte: nil, readIdle: nil, total: nil)
        timeouts[limit] = .seconds(1000)
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL, timeouts: timeouts)
        try configuration.use(clock)
        let session = try HTTPSession(configuration)
        let task = Task { try await session.get("/", as: .bytes) }
        try await sent.opened()
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(999))
        #expect(await session.tasks.count == 1)
        try await clock.advance(by: .seconds(1))
        do {
            _ = try await task.value
            Issue.record("an answer came")
        } catch let error as NetworkError {
            #expect(error.code == .timedOut)
            #expect(error.phase == (limit == .readIdle ? .receive : .firstByte))
            #expect(error.exceeded == limit)
            #expect(error.limit == .seconds(1000))
            #expect(error.elapsed == .seconds(1000))
        }
        server.stop()
    }

    @Test func `a session keeps the loop that runs by the clock`() async throws {
        let server = try LoopbackServer()
        server.respond { _ in .response(body: "hello") }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        try configuration.use(ManualClock())
        let session = try HTTPSession(configuration)
        for _ in 0..<3 { #expect(try await session.get("/", as: .string).value == "hello") }
        server.stop()
    }

    @Test func `waiting for a sleeper that never comes ends`() async throws {
        await #expect(throws: LoopbackServer.WaitTimedOut.self) {
            try await ManualClock().waitForSleepers(within: .milliseconds(10))
        }
    }

    @Test func `a clock that a test forgets to move says who waits, and until when`() async throws {
        let said = AsyncStream.makeStream(of: String.self)
        let clock = ManualClock(Standstill(after: .milliseconds(20)) { said.continuation.yield($0) })
        let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(60))) }
        var texts = said.stream.makeAsyncIterator()
        let text = try #require(await texts.next())
        #expect(text.contains("shows 0.0 seconds") && text.contains("1 task, until 60.0 seconds"))
        try await clock.advance(by: .seconds(1))
        #expect(await texts.next()?.contains("shows 1.0 seconds") == true)
        try await clock.advance(by: .seconds(59))
        try await sleeper.value
    }

}
