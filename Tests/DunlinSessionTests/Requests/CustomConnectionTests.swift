import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

/// What a session does for an upgraded connection of a custom transport.
@Suite(.timeLimit(.minutes(10))) struct `The connection of a custom transport` {
    enum Direction: CaseIterable { case reading, writing }

    private static func mocked(
        _ clock: ManualClock, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> Mocked {
        try Mocked(clock: clock) {
            try $0.use(clock)
            try change(&$0)
        }
    }

    /// A peer that neither sends nor takes anything.
    private static func silent(_ clock: ManualClock) -> MockTransport.Outcome {
        .upgrade(to: "foo") { _ in
            try await clock.sleep(for: .seconds(1_000_000))
            return nil
        } receives: { _ in
            try await clock.sleep(for: .seconds(1_000_000))
        }
    }

    @Test(arguments: Direction.allCases)
    func `a wait that is longer than the silence allowed ends the connection`(direction: Direction) async throws {
        let clock = ManualClock()
        let ended = Mutex<[NetworkError.Code?]>([])
        let mocked = try Self.mocked(clock) {
            $0.hooks.completed = { end in ended.withLock { $0.append((end.error as? NetworkError)?.code) } }
        }
        mocked.transport.on(.get, "/x").reply(Self.silent(clock))
        let connection = try await mocked.session.upgrade("x", to: "foo", silence: .seconds(60))
        try await clock.advance(by: .seconds(1000))
        #expect(connection.isOpen, "nobody waits")
        async let waiting = NetworkError.thrown {
            if direction == .reading { _ = try await connection.read() } else { try await connection.write("a") }
        }
        try await clock.waitForSleepers()
        try await clock.advance(by: .seconds(59))
        #expect(connection.isOpen)
        try await clock.advance(by: .seconds(2))
        let error = try await waiting
        #expect(error.code == .timedOut && error.limit == .seconds(60), "\(error)")
        #expect(error.exceeded == (direction == .reading ? .readIdle : .send))
        #expect(error.request?.url.hasSuffix("/x") == true && !error.isSafeToRetry)
        #expect(!connection.isOpen)
        await mocked.session.shutdown()
        #expect(ended.withLock { $0 } == [.timedOut])
    }

    @Test func `each wait begins anew, and one direction's silence is not the other's`() async throws {
        let clock = ManualClock()
        let mocked = try Self.mocked(clock)
        mocked.transport.on(.get, "/x").reply(
            .upgrade(to: "foo") { _ in
                try await clock.sleep(for: .seconds(50))
                return "b"
            } receives: { _ in
            })
        let connection = try await mocked.session.upgrade("x", to: "foo", silence: .seconds(60))
        for _ in 0..<3 {
            try await connection.write("a")
            #expect(try await clock.skippingWaits { try await connection.read() } == "b")
        }
        connection.close()
        await mocked.session.shutdown()
    }

    @Test func `a suspended connection is neither read nor written, and that is no silence`() async throws {
        let clock = ManualClock()
        let written = Atomic(0)
        // What nobody observes cannot be suspended.
        let mocked = try Self.mocked(clock) {
            $0.hooks.completed = { _ in }
            $0.timeouts.total = .seconds(10)
        }
        mocked.transport.on(.get, "/x").reply(
            .upgrade(to: "foo") { _ in
                "b"
            } receives: { _ in
                written.add(1, ordering: .relaxed)
            })
        let connection = try await mocked.session.upgrade("x", to: "foo", silence: .seconds(60))
        let id = try #require(await mocked.session.tasks.all.first).id
        let delegate = try #require(await mocked.session.tasks[id])
        #expect(delegate.suspend())
        async let writing: Void = connection.write("a")
        async let reading = connection.read()
        for _ in 0..<10 { try await clock.advance(by: .seconds(100)) }
        #expect(written.load(ordering: .relaxed) == 0 && connection.metrics.hops.last?.bodyBytes == 0)
        #expect(delegate.resume())
        try await writing
        #expect(try await reading == "b" && written.load(ordering: .relaxed) == 1)
        connection.close()
        await mocked.session.shutdown()
    }

    @Test(arguments: [true, false])
    func `what waits to be written while it is suspended is not written after a cancel`(isByTask: Bool) async throws {
        let written = Atomic(0)
        let clock = ManualClock()
        let mocked = try Mocked { $0.hooks.completed = { _ in } }
        for round in 0..<20 {
            mocked.transport.on(.get, "/x").reply(
                .upgrade(to: "foo") { _ in
                    try await clock.sleep(for: .seconds(1000))
                    return nil
                } receives: { _ in
                    written.add(1, ordering: .relaxed)
                })
            let connection = try await mocked.session.upgrade("x", to: "foo", options: .init(label: "\(round)"))
            // The one before may be there for a moment more.
            let id = try #require(await mocked.session.tasks.all.first { $0.label == "\(round)" }).id
            let delegate = try #require(await mocked.session.tasks[id])
            #expect(delegate.suspend())
            let writing = Task { try await connection.write("a") }
            for _ in 0..<5 { await Task.yield() }
            if isByTask { writing.cancel() } else { delegate.cancel() }
            await #expect(throws: (any Error).self) { try await writing.value }
            connection.close()
        }
        await mocked.session.shutdown()
        #expect(written.load(ordering: .relaxed) == 0)
    }

    @Test func `what is written counts as sent, and what is read as received`() async throws {
        let clock = ManualClock()
        let last = Mutex<[String: HTTPSession.TransferProgress]>([:])
        let mocked = try Self.mocked(clock) {
            $0.hooks.uploadProgress = { _, progress in last.withLock { $0["up"] = progress } }
            $0.hooks.downloadProgress = { _, progress in last.withLock { $0["down"] = progress } }
        }
        mocked.transport.on(.post, "/x").reply(
            .upgrade(to: "foo") {
                $0 == 0 ? "abc" : nil
            } receives: { _ in
            })
        let connection = try await mocked.session.upgrade("x", to: "foo", method: .post, body: .string("body"))
        try await connection.write("12345")
        #expect(try await connection.read() == "abc")
        connection.close()
        await mocked.session.shutdown()
        let (up, down) = last.withLock { ($0["up"], $0["down"]) }
        #expect(up?.isFinal == true && up?.wireBytes == 9 && up?.totalBytes == nil, "\(String(describing: up))")
        #expect(down?.isFinal == true && down?.wireBytes == 3 && down?.totalBytes == nil)
    }

    @Test func `the total of the request ends with the 101, however its body is wrapped`() async throws {
        let (clock, observer) = (ManualClock(), RecordingObserver())
        let mocked = try Self.mocked(clock) {
            $0.timeouts.total = .seconds(10)
            $0.observers = [observer]
            $0.hooks.data = { _, _ in }
            $0.interceptors = [.exchange { try await WrappingBody.wrapped($1($0)) }]
        }
        mocked.transport.on(.get, "/x").reply(
            .upgrade(to: "foo") { _ in
                try await clock.sleep(for: .seconds(50))
                return "b"
            } receives: { _ in
            })
        let connection = try await mocked.session.upgrade("x", to: "foo")
        for _ in 0..<2 {
            try await connection.write("a")
            #expect(try await clock.skippingWaits { try await connection.read() } == "b")
        }
        connection.close()
        await mocked.session.shutdown()
        #expect(observer.isBalanced && observer.requests.first?.bodies == ["complete"])
    }

    @Test func `a second reader is refused, and ends nothing for the observers`() async throws {
        let observer = RecordingObserver()
        let mocked = try Mocked { $0.observers = [observer] }
        let pieces = AsyncStream.makeStream(of: Bytes.self)
        let waits = AsyncStream.makeStream(of: Void.self)
        mocked.transport.on(.get, "/x").reply(
            .upgrade(to: "foo") { _ in
                waits.continuation.yield()
                for await piece in pieces.stream { return piece }
                return nil
            } receives: { _ in
            })
        let connection = try await mocked.session.upgrade("x", to: "foo")
        async let first = connection.read()
        for await _ in waits.stream { break }
        let second = try await NetworkError.thrown { _ = try await connection.read() }
        #expect(second.code == .bodyConsumed)
        #expect(observer.requests.first?.exchanges.first?.ends.isEmpty == true)
        pieces.continuation.yield("a")
        #expect(try await first == "a")
        connection.close()
        await mocked.session.shutdown()
        #expect(observer.isBalanced && observer.requests.first?.bodies == ["complete"])
    }
}
