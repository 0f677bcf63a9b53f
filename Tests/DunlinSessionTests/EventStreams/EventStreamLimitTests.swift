import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10)))
struct `Limits of a stream of events` {
    private static let type: Fields = ["Content-Type": "text/event-stream"]

    private static func mocked(
        _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> (mocked: Mocked, clock: ManualClock) {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            $0.use(SeededGenerator(seed: 1))
            try $0.use(clock)
            try change(&$0)
        }
        return (mocked, clock)
    }

    /// A stream with an event, and then a comment every ten seconds for ever.
    private static func commenting(_ clock: ManualClock) -> MockTransport.Outcome {
        .stream(fields: type) { index in
            if index == 0 { return "id: 1\ndata: a\n\n" }
            try await clock.sleep(for: .seconds(10))
            return ": still here\n"
        }
    }

    @Test func `a stream on which only comments come breaks when its silence has lasted long enough`() async throws {
        let (mocked, clock) = try Self.mocked()
        let requests = Atomic(0)
        mocked.transport.otherwise { _ in
            requests.add(1, ordering: .relaxed).newValue < 3 ? Self.commenting(clock) : .respond(.noContent)
        }
        let events = mocked.session.events
        let stream = mocked.session.events("x", settings: .init(silence: .seconds(25)))
        let start = clock.now
        let count = try await clock.skippingWaits {
            var count = 0
            for try await _ in stream { count += 1 }
            return count
        }
        #expect(count == 2 && start.duration(to: clock.now) >= .seconds(50))
        await mocked.session.shutdown()
        var causes: [NetworkError.RetriedAttempt.Cause?] = []
        for await case .reconnecting(_, let next) in events { causes.append(next.cause) }
        #expect(causes == [.failure(.timedOut, .receive), .failure(.timedOut, .receive)])
    }

    @Test func `a slow reader is no silence`() async throws {
        let (mocked, clock) = try Self.mocked()
        mocked.transport.on(.get, "/x").stream(["data: a\n\n", "data: b\n\n"], fields: Self.type)
            .thenRespond(.noContent)
        var iterator = mocked.session.events("x", settings: .init(silence: .seconds(5))).makeAsyncIterator()
        #expect(try await iterator.next()?.data == "a")
        for _ in 0..<4 { try await clock.advance(by: .seconds(4)) }
        #expect(try await iterator.next()?.data == "b")
        #expect(mocked.transport.requests.count == 1)
    }

    @Test func `a suspension is no silence`() async throws {
        // What nobody observes cannot be suspended.
        let (mocked, clock) = try Self.mocked { $0.hooks.completed = { _ in } }
        let requests = Atomic(0)
        let events = Atomic(0)
        mocked.transport.otherwise { _ in
            if requests.add(1, ordering: .relaxed).newValue > 1 { return .respond(.noContent) }
            return .stream(fields: Self.type) { index in
                if index > 0 { try await clock.sleep(for: .seconds(10_000)) }
                return "data: a\n\n"
            }
        }
        let session = mocked.session
        let reading = Task {
            for try await _ in session.events("x", settings: .init(silence: .seconds(5))) {
                events.add(1, ordering: .relaxed)
            }
        }
        try await clock.waitForSleepers()
        let id = try #require(await session.tasks.all.first).id
        let delegate = try #require(await session.tasks[id])
        #expect(delegate.suspend())
        for _ in 0..<6 { try await clock.advance(by: .seconds(4)) }
        #expect(requests.load(ordering: .relaxed) == 1)
        delegate.resume()
        try await clock.advance(by: .seconds(1), until: "it reconnects") { requests.load(ordering: .relaxed) == 2 }
        try await reading.value
        #expect(events.load(ordering: .relaxed) == 1)
    }

    @Test func `an event that is too large ends the stream`() async throws {
        let (mocked, _) = try Self.mocked()
        mocked.transport.on(.get, "/x").stream(["data: 123456789\n\n"], fields: Self.type).always()
        let error = try await NetworkError.thrown {
            for try await _ in mocked.session.events("x", settings: .init(eventLimit: 8)) {}
        }
        #expect(error.code == .limitExceeded && mocked.transport.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func `a total of the stream's own counts for all attempts and waits together`(isInherited: Bool) async throws {
        let (mocked, clock) = try Self.mocked { $0.timeouts.total = .seconds(1) }
        mocked.transport.otherwise { _ in
            .stream(fields: Self.type) { index in
                if index == 1 { try await clock.sleep(for: .seconds(20)) }
                return index < 2 ? "retry: 10000\ndata: a\n\n" : nil
            }
        }
        let start = clock.now
        var count = 0
        let error = try await NetworkError.thrown {
            try await clock.skippingWaits {
                if isInherited {
                    try await mocked.session.withTimeout(.seconds(100)) {
                        for try await _ in mocked.session.events("x") { count += 1 }
                    }
                } else {
                    for try await _ in mocked.session.events("x", timeout: .seconds(100)) { count += 1 }
                }
            }
        }
        #expect(error.code == .timedOut && error.exceeded == .total && error.limit == .seconds(100))
        // Three streams of twenty seconds, with ten after each, and the beginning of a fourth. The clock jumps over the
        // deadline to where the fourth goes on, so that its next event may come at the same moment.
        #expect((7...8).contains(count) && start.duration(to: clock.now) >= .seconds(100))
    }

    @Test func `a stream that dies after each event is resumed ten thousand times`() async throws {
        let (mocked, clock) = try Self.mocked()
        let next = Atomic(0)
        mocked.transport.otherwise { _ in
            let number = next.add(1, ordering: .relaxed).newValue
            if number > 10_000 { return .respond(.noContent) }
            return .respond(fields: Self.type, body: Bytes("retry: 0\nid: \(number)\ndata: \(number)\n\n"))
        }
        let stream = mocked.session.events("x", settings: .init(minimumWait: .zero))
        let last = try await clock.skippingWaits {
            var last = ""
            for try await event in stream { last = event.data }
            return last
        }
        #expect(last == "10000" && stream.attempt == 10_001)
        #expect(mocked.transport.requests.last?.fields["Last-Event-ID"] == "10000")
        #expect(await mocked.session.tasks.count == 0)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `The end of a stream of events from outside` {
    private static let type: Fields = ["Content-Type": "text/event-stream"]

    /// Where a stream is when it is ended.
    enum Point: CaseIterable {
        case connecting
        case reading
        case waiting
        /// The response has ended, and the second of its events was not asked for yet.
        case buffered
    }

    enum Ender: CaseIterable {
        case task
        case registry
        case tag
        case id
        case shutdown
        case restart
    }

    @Test(arguments: Point.allCases, Ender.allCases)
    func `a stream ends at once wherever it is, and sends nothing more`(point: Point, ender: Ender) async throws {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) { try $0.use(clock) }
        let isReading = Atomic(false)
        mocked.transport.otherwise { _ in
            switch point {
            case .connecting: .never
            case .waiting: .respond(fields: Self.type, body: "data: a\n\n")
            case .buffered: .respond(fields: Self.type, body: "data: a\n\ndata: b\n\n")
            case .reading:
                .stream(fields: Self.type) { index in
                    if index == 0 { return "data: a\n\n" }
                    isReading.store(true, ordering: .relaxed)
                    try await clock.sleep(for: .seconds(1000))
                    return nil
                }
            }
        }
        let session = mocked.session
        let gate = AsyncStream.makeStream(of: Void.self)
        let count = Atomic(0)
        let ended = Atomic<UInt64>(0)
        var options = HTTPSession.Options(tags: ["t"])
        if ender == .id { options.hooks.completed = { ended.store($0.task.id.rawValue, ordering: .relaxed) } }
        let reading = Task { [options] in
            for try await _ in session.events("x", options: options) {
                count.add(1, ordering: .relaxed)
                if point == .buffered { for await _ in gate.stream { break } }
            }
        }
        switch point {
        case .buffered:
            try await eventually("it has an event") { count.load(ordering: .relaxed) == 1 }
            try await eventually("its attempt is over") { await session.tasks.count == 0 }
        case .connecting: try await mocked.transport.waitForRequests()
        case .waiting: try await clock.waitForRetries()
        case .reading: try await eventually("it is read") { isReading.load(ordering: .relaxed) }
        }
        switch ender {
        case .task: reading.cancel()
        case .registry: #expect(await session.tasks.cancelAll() == 1)
        case .tag: #expect(await session.tasks.cancel(tagged: "t") == 1)
        case .id:
            let last = HTTPSession.TaskID(rawValue: ended.load(ordering: .relaxed))
            let id = await session.tasks.all.first?.id ?? last
            #expect(await session.tasks.cancel(id))
        case .shutdown: #expect(await session.shutdown() == 1)
        case .restart: await session.restart()
        }
        gate.continuation.yield()
        let error = await #expect(throws: (any Error).self) { try await reading.value }
        if ender == .task {
            #expect(error is CancellationError)
        } else {
            #expect((error as? NetworkError)?.code == .cancelled)
        }
        try await clock.advance(by: .seconds(1000))
        #expect(mocked.transport.requests.count == 1)
        #expect(count.load(ordering: .relaxed) == (point == .connecting ? 0 : 1))
        #expect(await session.tasks.count == 0)
    }

    @Test func `a stream that has ended is cancelled no more, though somebody keeps an attempt of it`() async throws {
        let mocked = try Mocked()
        let session = mocked.session
        mocked.transport.on(.get, "/x").stream(["data: a\n\n", "data: b\n\n"], fields: Self.type).always()
        var kept: [TaskDelegate?] = []
        for endsByCaller in [true, false] {
            for try await event in session.events("x", until: "b") {
                #expect(event.data == "a")
                kept.append(await session.tasks[try #require(await session.tasks.all.first?.id)])
                if endsByCaller { break }
            }
        }
        #expect(kept.count == 2)
        try await session.tasks.waitUntilEmpty()
        #expect(await session.tasks.cancelAll() == 0)
    }

    @Test func `a stream whose session is restarted in its loop sends nothing more`() async throws {
        let mocked = try Mocked()
        mocked.transport.otherwise { _ in .respond(fields: Self.type, body: "id: 1\ndata: a\n\n") }
        let error = try await networkError {
            for try await _ in mocked.session.events("x", settings: .init(minimumWait: .zero)) {
                await mocked.session.restart()
            }
        }
        #expect(error?.code == .cancelled && mocked.transport.requests.count == 1)
    }

    /// Streams that are requested again as fast as possible, cancelled at any moment.
    @Test(arguments: [true, false]) func `no stream goes on after a cancel, whenever it comes`(byTag: Bool) async throws
    {
        var random = SeededGenerator(seed: 7)
        let policy = HTTPSession.RetryPolicy.exponential(
            attempts: 1000, base: .zero, cap: .zero, when: [.connectionFailure], budget: .unlimited)
        let mocked = try Mocked { $0.queue.running = 1 }
        let reset = NetworkError(.connectionClosed, "reset", phase: .receive, isSafeToRetry: true)
        mocked.transport.otherwise { request in
            request.target == "/breaks"
                ? .stream(["data: a\n\n"], fields: Self.type, failing: reset)
                : .respond(fields: Self.type, body: "data: a\n\n")
        }
        for number in 0..<200 {
            let before = mocked.transport.requests.count
            let reading = Task {
                let events = mocked.session.events(
                    number.isMultiple(of: 2) ? "breaks" : "ends", settings: .init(minimumWait: .zero),
                    options: .init(tags: ["t"], retry: .value(policy)))
                for try await _ in events {}
            }
            try await eventually("it was sent") { mocked.transport.requests.count > before }
            for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
            let count = byTag ? await mocked.session.tasks.cancel(tagged: "t") : await mocked.session.tasks.cancelAll()
            #expect(count == 1)
            let error = try await networkError { try await reading.value }
            #expect(error?.code == .cancelled)
            try await mocked.session.tasks.waitUntilEmpty()
        }
    }

    @Test func `a reader whose task is cancelled gets no event that has come already`() async throws {
        let mocked = try Mocked()
        mocked.transport.on(.get, "/x").respond(fields: Self.type, body: "data: a\n\ndata: b\n\n")
        let reading = Task {
            var events = mocked.session.events("x").makeAsyncIterator()
            #expect(try await events.next()?.data == "a")
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await events.next() }
            return try await events.next()
        }
        #expect(try await reading.value == nil)
        #expect(mocked.transport.requests.count == 1)
    }

    @Test func `a stream that is suspended while it waits sends nothing until it is resumed`() async throws {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            try $0.use(clock)
            // What nobody observes cannot be suspended.
            $0.hooks.completed = { _ in }
        }
        mocked.transport.on(.get, "/x").respond(fields: Self.type, body: "data: a\n\n").thenRespond(.noContent)
        let session = mocked.session
        let reading = Task {
            var count = 0
            for try await _ in session.events("x") { count += 1 }
            return count
        }
        try await clock.waitForRetries()
        let waiting = await session.tasks.all.filter { $0.state == .waiting }
        #expect(waiting.count == 1)
        let id = try #require(waiting.first).id
        let delegate = try #require(await session.tasks[id])
        #expect(delegate.suspend())
        try await clock.advance(by: .seconds(1000))
        #expect(mocked.transport.requests.count == 1)
        delegate.resume()
        #expect(try await reading.value == 1 && mocked.transport.requests.count == 2)
    }
}
