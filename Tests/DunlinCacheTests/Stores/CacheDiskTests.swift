import Dispatch
import Dunlin
import DunlinReactor
import DunlinSecure
import DunlinTesting
import DunlinTypes
import Foundation
import Mocking
import Synchronization
import Testing

@testable import DunlinCache
@testable import DunlinSession

/// A disk that hangs while it is told to.
private final class HungDisk: Sendable {
    private let isHung = Mutex(false)
    private let lifted = DispatchSemaphore(value: 0)
    private let count = Mutex<[CacheFolder.Operation: Int]>([:])

    func hang() { isHung.withLock { $0 = true } }

    func lift() {
        isHung.withLock { $0 = false }
        for _ in 0..<100 { lifted.signal() }
    }

    func calls(_ operation: CacheFolder.Operation) -> Int { count.withLock { $0[operation] ?? 0 } }

    func folder(_ scratch: TestCacheFolder) -> CacheFolder {
        CacheFolder(scratch.path) { operation in
            self.count.withLock { $0[operation, default: 0] += 1 }
            if self.isHung.withLock(\.self) { self.lifted.wait() }
            return nil
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A cache on a disk` {
    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private let disk = HungDisk()
    private let scratch = TestCacheFolder()

    private func store(_ troubles: @escaping @Sendable (CacheTrouble) -> Void = { _ in }) async -> CacheStore {
        let store = CacheStore(
            CacheCapacity(memory: 0), folder: disk.folder(scratch), rules: TestCacheFolder.rules,
            threads: DiskThreads(threads: 4), report: troubles)
        await store.backgroundEnded()
        return store
    }

    private static func mocked(_ store: CacheStore, _ clock: ManualClock) throws -> Mocked {
        try Mocked(clock: clock) {
            try $0.use(clock)
            $0.cache = HTTPSession.Cache(store)
        }
    }

    @Test func `a disk that does not answer is a miss after two seconds, and then at once`() async throws {
        let clock = ManualClock()
        let told = Mutex<[CacheTrouble.Kind]>([])
        let store = await store { trouble in told.withLock { $0.append(trouble.kind) } }
        let mock = try Self.mocked(store, clock)
        mock.transport.on(.get, "/a").respond(fields: Self.fresh, body: "abc").always()
        disk.hang()
        async let first = mock.session.get("/a", as: .string)
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(1))
        #expect(mock.transport.requests.isEmpty)
        try await clock.advance(by: .seconds(1))
        #expect(try await first.value == "abc")
        #expect(told.withLock(\.self) == [.slowness])
        // Nobody moves the clock any more.
        #expect(try await mock.session.get("/a", as: .string).value == "abc")
        disk.lift()
        try await eventually("the disk answers") {
            let count = mock.transport.requests.count
            _ = try await mock.session.get("/a", as: .string)
            return mock.transport.requests.count == count
        }
        await store.close()
    }

    @Test func `a cancelled request does not wait for a disk`() async throws {
        let clock = ManualClock()
        let store = await store()
        let mock = try Self.mocked(store, clock)
        disk.hang()
        let task = try mock.session.task("/a", as: .string)
        task.resume()
        try await clock.waitForDeadlines()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        disk.lift()
        await store.close()
    }

    @Test func `a request with less time than a disk's limit ends at its own`() async throws {
        let clock = ManualClock()
        let store = await store()
        let mock = try Self.mocked(store, clock)
        disk.hang()
        async let error = networkError { _ = try await mock.session.get("/a", timeout: .seconds(1), as: .string) }
        try await clock.waitForDeadlines()
        try await clock.advance(by: .seconds(1))
        #expect(try await error?.code == .timedOut)
        #expect(mock.transport.requests.isEmpty)
        disk.lift()
        await store.close()
    }

    @Test func `a damaged file is asked for again, whichever block of it is damaged`() async throws {
        let store = await store()
        let body = TestCacheFolder.bytes(200_000)
        for block in [0, 1, 3] {
            let transport = MockTransport()
            transport.on(.get, "/a").respond(fields: Self.fresh, body: body).always()
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.cache = HTTPSession.Cache(store)
            // However slow the disk is, nobody gives up waiting for it.
            try configuration.use(ManualClock())
            let session = try HTTPSession(configuration)
            for _ in 1...2 { #expect(try await session.get("/a", as: .bytes).value == body) }
            #expect(transport.requests.count == 1)
            let file = try #require(try scratch.files().first { try scratch.length(of: $0) > 200_000 })
            try scratch.damage(file, at: BodyBlocks.offset(of: block) + 5)
            let response = try await session.get("/a", as: .bytes)
            #expect(response.value == body && transport.requests.count == 2)
            #expect(response.cacheUse?.source == .network)
            await store.removeAll()
        }
        await store.close()
    }

    @Test func `only the body that is read is opened`() async throws {
        let store = await store()
        for index in 0..<5 { await store.put("/a", TestCacheFolder.bytes(100_000, seed: UInt64(index))) }
        let before = disk.calls(.open)
        let found = await store.found("/a")
        #expect(found.count == 5 && disk.calls(.open) == before + 1)
        _ = try await found[2].body.all()
        #expect(disk.calls(.open) == before + 2)
        await store.close()
    }

    // MARK: - Secrets

    @Test func `a response that depends on a secret is found by the next process, but in no other folder`() async throws
    {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(fields: Self.fresh, body: "abc").always()
        let other = TestCacheFolder()
        let plain = try HashFunction.sha256.hash(of: "Bearer t1")
        var records: [Data] = []
        for scratch in [scratch, scratch, other] {
            let cache = HTTPSession.Cache(.init(memory: 0, disk: 8 << 20), folder: scratch.path)
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.cache = cache
            // However slow the disk is, nobody gives up waiting for it.
            try configuration.use(ManualClock())
            let session = try HTTPSession(configuration)
            let options = HTTPSession.Options(fields: ["Authorization": "Bearer t1"])
            #expect(try await session.get("/a", options: options, as: .string).value == "abc")
            await cache.close()
            let record = try #require(try scratch.files().first { !$0.hasSuffix("-salt") })
            records.append(try Data(contentsOf: URL(filePath: scratch.path + "/" + record)))
            let salt = try #require(try scratch.files().first { $0.hasSuffix("-salt") })
            #expect(try scratch.length(of: salt) == 32 && scratch.permissions(of: salt) == 0o600)
        }
        #expect(transport.requests.count == 2)
        #expect(records[0] == records[1])
        for record in records { #expect(record.firstRange(of: Data(plain)) == nil) }
    }

    @Test(arguments: [0, 31, 33]) func `a damaged salt is replaced, and what was hashed with it is a miss`(
        count: Int
    ) async throws {
        let transport = MockTransport()
        transport.on(.get, "/a").respond(fields: Self.fresh, body: "abc").always()
        let options = HTTPSession.Options(fields: ["Authorization": "Bearer t1"])
        for number in 1...3 {
            let cache = HTTPSession.Cache(.init(memory: 0, disk: 8 << 20), folder: scratch.path)
            var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
            configuration.cache = cache
            // However slow the disk is, nobody gives up waiting for it.
            try configuration.use(ManualClock())
            let session = try HTTPSession(configuration)
            #expect(try await session.get("/a", options: options, as: .string).value == "abc")
            await cache.close()
            #expect(transport.requests.count == min(number, 2))
            if number > 1 { continue }
            let salt = try #require(try scratch.files().first { $0.hasSuffix("-salt") })
            try Data(count: count).write(to: URL(filePath: scratch.path + "/" + salt))
        }
    }
}
