import Dunlin
import DunlinReactor
import DunlinTesting
import DunlinTypes
import Foundation
import Glibc
import Synchronization
import Testing

@testable import DunlinCache
@testable import DunlinSession

/// A disk on which no file is made while it is held.
private final class HeldDisk: Sendable {
    private let isHeld = Mutex(false)
    private let made = Atomic(0)
    private let failure = Mutex<Errno?>(nil)

    /// How many files somebody has begun to make.
    var begun: Int { made.load(ordering: .relaxed) }

    func hold() { isHeld.withLock { $0 = true } }

    func lift(failing errno: Errno? = nil) {
        failure.withLock { $0 = errno }
        isHeld.withLock { $0 = false }
    }

    func folder(_ scratch: TestCacheFolder) -> CacheFolder {
        CacheFolder(scratch.path) { operation in
            guard operation == .create else { return nil }
            self.made.add(1, ordering: .relaxed)
            while self.isHeld.withLock(\.self) { poll(nil, 0, 1) }
            return self.failure.withLock(\.self)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Responses that are stored behind their requests` {
    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private let disk = HeldDisk()
    private let scratch = TestCacheFolder()
    private let transport = MockTransport()
    private let told = Told()

    private final class Told: Sendable {
        private let all = Mutex<[CacheTrouble.Kind]>([])
        var kinds: [CacheTrouble.Kind] { all.withLock(\.self) }
        func note(_ trouble: CacheTrouble) { all.withLock { $0.append(trouble.kind) } }
    }

    private func store(memory: Int = 0) async -> CacheStore {
        let store = CacheStore(
            CacheCapacity(memory: memory, disk: 64 << 20), folder: disk.folder(scratch), rules: TestCacheFolder.rules,
            threads: DiskThreads(threads: 4)
        ) { [told] in told.note($0) }
        await store.backgroundEnded()
        return store
    }

    private func session(_ store: CacheStore, _ clock: ManualClock = ManualClock()) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.cache = HTTPSession.Cache(store)
        // However slow the disk is, nobody gives up waiting for it.
        try configuration.use(clock)
        return try HTTPSession(configuration)
    }

    private static func storingEnds(_ events: AsyncStream<HTTPSession.Event>) async -> Bool? {
        for await event in events {
            if case .storingEnded(let task, let isStored) = event {
                #expect(task.method == .get)
                return isStored
            }
        }
        return nil
    }

    /// Gives a response to be written. Returns what became of that at once.
    @discardableResult
    private func hand(
        _ path: String, _ count: Int, to store: CacheStore, _ whenStored: @escaping @Sendable (Bool) -> Void = { _ in }
    ) async throws -> HandedResponse {
        let writer = try #require(await store.writer(for: TestCacheFolder.key(path), length: count))
        await writer.write(TestCacheFolder.bytes(count))
        return await writer.hand(as: TestCacheFolder.entry(path, count), replacing: [], whenStored: whenStored)
    }

    @Test(arguments: [3, 20_000]) func `nobody waits for the disk, and what came of it is told`(count: Int) async throws
    {
        let store = await store()
        let session = try session(store)
        let events = session.events
        transport.on { _ in true }.respond(fields: Self.fresh, body: TestCacheFolder.bytes(count)).always()
        disk.hold()
        let response = try await session.get("/a", as: .bytes)
        #expect(response.cacheUse?.storing == .storing)
        #expect(response.cacheUse?.status == "dunlin; fwd=uri-miss; fwd-status=200")
        #expect(session.configuration.cache?.gauges.waiting == 1)
        #expect(session.configuration.cache?.gauges.waitingBytes ?? 0 > count)
        disk.lift()
        #expect(await Self.storingEnds(events) == true)
        #expect(response.cacheUse?.storing == .stored)
        #expect(response.cacheUse?.status == "dunlin; fwd=uri-miss; fwd-status=200; stored")
        await session.shutdown()
        #expect(session.configuration.cache?.gauges.waiting == 0)
        await store.close()
    }

    @Test func `a disk that is full says so, and nothing is said to be stored`() async throws {
        let store = await store()
        let session = try session(store)
        let events = session.events
        transport.on { _ in true }.respond(fields: Self.fresh, body: "abc").always()
        disk.hold()
        let response = try await session.get("/a", as: .bytes)
        #expect(response.cacheUse?.storing == .storing)
        disk.lift(failing: Errno(rawValue: ENOSPC))
        #expect(await Self.storingEnds(events) == false)
        #expect(response.cacheUse?.storing == nil && response.cacheUse?.status.contains("stored") == false)
        #expect(told.kinds == [.writing(Errno(rawValue: ENOSPC))])
        await session.shutdown()
        await store.close()
    }

    @Test(arguments: [0, 1 << 20]) func `a response that waits to be written is served once it is written`(memory: Int)
        async throws
    {
        let store = await store(memory: memory)
        let session = try session(store)
        transport.on { _ in true }.respond(fields: Self.fresh, body: "abc").always()
        disk.hold()
        for path in ["/before", "/a"] { _ = try await session.get(HTTP.Target(path), as: .bytes) }
        async let again = session.get("/a", as: .string)
        async let other = session.get("/other", as: .string)
        // Who asks for something else does not wait for it.
        #expect(try await other.value == "abc")
        disk.lift()
        #expect(try await again.cacheUse?.source == (memory > 0 ? .memory : .disk))
        #expect(transport.requests.count == 3)
        await session.shutdown()
        await store.close()
    }

    @Test(arguments: [true, false]) func `a removal cancels writes that wait, and removes what is being written`(
        all: Bool
    )
        async throws
    {
        let store = await store(memory: 1 << 20)
        let outcomes = Mutex<[String: Bool]>([:])
        disk.hold()
        let before = disk.begun
        for path in ["/a", "/b", "/c"] {
            let handed = try await hand(path, 10, to: store) { isStored in outcomes.withLock { $0[path] = isStored } }
            #expect(handed == .storing)
        }
        try await eventually("one is being written") { disk.begun > before }
        let keys = ["/a", "/b"].map { TestCacheFolder.key($0) }
        async let removed: Void = all ? store.removeAll() : store.remove(keys)
        // What was not begun is void at once.
        try await eventually("the other is void") { outcomes.withLock { $0["/b"] == false } }
        disk.lift()
        await removed
        await store.written(within: nil)
        #expect(await store.found("/a").isEmpty)
        #expect(await store.found("/b").isEmpty)
        #expect(await store.found("/c").isEmpty == all)
        #expect(outcomes.withLock { $0["/c"] } == !all)
        await store.close()
        #expect(try scratch.files().count == (all ? 0 : 1))
    }

    @Test func `an unsafe request cancels the waiting writes of its URL`() async throws {
        let store = await store()
        let session = try session(store)
        transport.on(.get, "/a").respond(fields: Self.fresh, body: "old").always()
        transport.on(.post, "/a").respond(body: "done").always()
        disk.hold()
        let response = try await session.get("/a", as: .bytes)
        async let posted = session.post("/a", body: .string("x"), as: .bytes)
        disk.lift()
        _ = try await posted
        await store.written(within: nil)
        #expect(await store.list().isEmpty)
        #expect(try await session.get("/a", as: .bytes).cacheUse?.source == .network)
        #expect(response.cacheUse?.source == .network)
        await session.shutdown()
        await store.close()
    }

    @Test func `a response that waits to be stored is served to no other user, and under no other guard`() async throws
    {
        let store = await store()
        let session = try session(store)
        transport.on { _ in true }.respond(fields: Self.fresh, body: "abc").always()
        let guarded = try HTTPSession { configuration in
            configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.cache = session.configuration.cache
            configuration.guard = .publicInternet
            try configuration.use(ManualClock())
        }
        disk.hold()
        let ada = HTTPSession.Options(fields: ["Authorization": "Bearer ada"])
        let bob = HTTPSession.Options(fields: ["Authorization": "Bearer bob"])
        _ = try await session.get("/a", options: ada, as: .string)
        async let other = session.get("/a", options: bob, as: .string)
        async let under = guarded.get("/a", options: ada, as: .string)
        disk.lift()
        #expect(try await other.cacheUse?.source == .network)
        #expect(try await under.cacheUse?.source == .network)
        #expect(try await session.get("/a", options: ada, as: .string).cacheUse?.source == .disk)
        for session in [session, guarded] { await session.shutdown() }
        await store.close()
    }

    @Test func `a response beyond the limit of what may wait to be written is not stored`() async throws {
        let store = await store()
        disk.hold()
        var handed: [HandedResponse] = []
        for number in 0..<100 { handed.append(try await hand("/\(number)", 60_000, to: store)) }
        let waiting = handed.prefix { $0 == .storing }.count
        #expect(60...70 ~= waiting && handed[waiting...].allSatisfy { $0 == .refused })
        let figures = try #require(store.figures.disk)
        #expect(figures.waiting == waiting && figures.waitingBytes <= CacheCapacity.mostPending)
        #expect(figures.writeFailures == 100 - waiting)
        #expect(told.kinds == [.backlog])
        disk.lift()
        await store.written(within: nil)
        #expect(await store.list().count == waiting)
        #expect(try await hand("/last", 60_000, to: store) == .storing)
        await store.close()
    }

    @Test func `a long body is written while it comes, and what waits for it is no more than before`() async throws {
        let store = await store()
        #expect(try await hand("/a", 300_000, to: store) == .stored)
        #expect(store.figures.disk?.waiting == 0)
        await store.close()
    }

    @Test func `closing writes what waits, and nothing waits afterwards`() async throws {
        let store = await store()
        for number in 0..<200 { #expect(try await hand("/\(number)", 1000, to: store) == .storing) }
        let late = try #require(await store.writer(for: TestCacheFolder.key("/late"), length: 3))
        await late.write("abc")
        await store.close()
        #expect(await late.hand(as: TestCacheFolder.entry("/late", 3), replacing: []) { _ in } == .refused)
        let next = await scratch.open(CacheCapacity(memory: 0, disk: 64 << 20))
        #expect(await next.list().count == 200)
        await next.close()
    }

    @Test func `shutting down waits for what is to be written, and no longer than for a disk`() async throws {
        let (store, clock) = (await store(), ManualClock())
        let session = try session(store, clock)
        transport.on { _ in true }.respond(fields: Self.fresh, body: "abc").always()
        disk.hold()
        _ = try await session.get("/a", as: .bytes)
        async let restarted = session.restart()
        try await clock.waitForDeadlines()
        disk.lift()
        _ = await restarted
        #expect(await store.list().count == 1)
        disk.hold()
        _ = try await session.get("/b", as: .bytes)
        async let ended = session.shutdown()
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(2))
        _ = await ended
        #expect(store.figures.disk?.waiting == 1)
        disk.lift()
        await store.close()
    }

    @Test func `whoever removes the file of the lock keeps nobody from storing`() async throws {
        let store = await store()
        for path in ["/a", "/b"] {
            #expect(await store.put(path, "abc"))
            let lock = try #require(
                try FileManager.default.contentsOfDirectory(atPath: scratch.path).first {
                    $0.hasSuffix("-lock")
                })
            try FileManager.default.removeItem(atPath: scratch.path + "/" + lock)
        }
        #expect(await store.list().count == 2)
        await store.close()
    }

    @Test func `a response that is given while the disk closes is told, and keeps nobody waiting`() async throws {
        final class Ends: Sendable {
            let all = Mutex<[Bool]>([])
        }
        let level = try #require(await store().disk)
        await level.close()
        let (queue, key, ends) = (level.queue, TestCacheFolder.key("/a"), Ends())
        func pending(_ then: @escaping @Sendable () -> Void = {}) -> StoreQueue.Pending {
            StoreQueue.Pending {
                true
            } whenStored: { isStored in
                ends.all.withLock { $0.append(isStored) }
                then()
            }
        }
        let late = pending()
        #expect(queue.offer(pending { _ = queue.offer(late, for: key, cost: 1) }, for: key, cost: 1) == .begin)
        queue.write(on: level)
        while ends.all.withLock({ $0.count }) < 2 { await Task.yield() }
        // The writer may be about to look once more, or not.
        if queue.offer(pending(), for: key, cost: 1) == .begin { queue.write(on: level) }
        while ends.all.withLock({ $0.count }) < 3 || queue.waiting.count > 0 { await Task.yield() }
        #expect(ends.all.withLock(\.self) == [false, false, false])
    }
}
