import Dispatch
import Dunlin
import DunlinReactor
import DunlinSemantics
import DunlinTesting
import DunlinTypes
import Foundation
import Synchronization
import Testing

@testable import DunlinCache
@testable import DunlinSession

/// Has the first call of a kind wait until it is let go.
private final class Gate: Sendable {
    private let isOpen = Mutex(false)
    private let reached = DispatchSemaphore(value: 0)
    private let open = DispatchSemaphore(value: 0)

    func pass() {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = true }
            return !isOpen
        }
        guard isFirst else { return }
        reached.signal()
        open.wait()
    }

    /// Waits for the first call, on a thread that may wait.
    func arrival() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                self.reached.wait()
                continuation.resume()
            }
        }
    }

    func letGo() { open.signal() }
}

/// What a cache keeps when there is not enough room, and what it says of what it stores.
@Suite(.timeLimit(.minutes(10))) struct `Room in a cache` {
    private static let fresh: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    private let scratch = TestCacheFolder()

    /// A store with room for twenty of the entries that lie there. One thread waits at the gate before the first of
    /// these calls; the other does all the rest, in order.
    private func narrow(among count: Int, holdingUp held: CacheFolder.Operation, _ gate: Gate) async -> CacheStore {
        let wide = await scratch.open(CacheCapacity(memory: 0, disk: 64 << 20))
        for number in 0..<count { await wide.put("/\(number)", "x") }
        await wide.close()
        let folder = CacheFolder(scratch.path) { operation in
            if operation == held { gate.pass() }
            return nil
        }
        let store = CacheStore(
            CacheCapacity(memory: 0, disk: 20 * 4096, largestShare: 1), folder: folder, rules: TestCacheFolder.rules,
            threads: DiskThreads(threads: 2)
        ) { _ in }
        await gate.arrival()
        return store
    }

    @Test func `an evicted response that is still on the disk evicts no other when it is found`() async throws {
        let gate = Gate()
        let store = await narrow(among: 100, holdingUp: .remove, gate)
        #expect(store.figures.disk?.evictions == 80)
        // Each has the folder read again, or nearly.
        for number in 100..<110 { await store.put("/\(number)", "x") }
        for number in 0..<110 { _ = await store.found("/\(number)") }
        gate.letGo()
        await store.backgroundEnded()
        let disk = try #require(store.figures.disk)
        #expect(disk.keys == 20 && disk.bytes == 20 * 4096 && disk.evictions == 90)
        #expect(try scratch.files().count == 20)
        for number in 100..<110 { #expect(await store.found("/\(number)").count == 1) }
        await store.close()
    }

    @Test func `what is stored again before its old files are removed stays`() async throws {
        let gate = Gate()
        let store = await narrow(among: 40, holdingUp: .lock, gate)
        var stored: [String] = []
        for number in 0..<40 where await store.found("/\(number)").count == 1 && stored.count < 10 {
            await store.put("/\(number)", "y")
            stored.append("/\(number)")
        }
        gate.letGo()
        await store.backgroundEnded()
        for path in stored { #expect(try await store.bodies(path) == ["x", "y"]) }
        #expect(store.figures.disk?.keys == 20)
        #expect(try scratch.files().count == 20)
        await store.close()
    }

    @Test func `two processes that open one folder at once throw out the same`() async throws {
        let wide = await scratch.open(CacheCapacity(memory: 0, disk: 64 << 20))
        for number in 0..<200 { await wide.put("/\(number)", "x") }
        await wide.close()
        let narrow = CacheCapacity(memory: 0, disk: 20 * 4096, largestShare: 1)
        async let one = scratch.open(narrow)
        async let other = scratch.open(narrow)
        for store in [await one, await other] { await store.close() }
        #expect(try scratch.files().count == 20)
    }

    // MARK: - Memory

    @Test func `what a head takes up in memory counts, however it is written`() {
        let names = (0..<9000).map { "n\($0)" }.joined(separator: ",")
        var short = Fields()
        for number in 0..<5000 { short.append(name: "\(number % 10)", value: "") }
        for fields in [["Cache-Control": "no-cache=\"\(names)\", max-age=60"], short] {
            let entry = TestCacheFolder.entry("/a", 0, fields: fields)
            #expect(entry.directives.unstoredFields.isEmpty)
            #expect(entry.held >= fields.bytes.count + fields.count * 16)
        }
        var aged = short
        aged.append(name: "Age", value: "1")
        #expect(
            TestCacheFolder.entry("/a", 0, fields: aged).held > TestCacheFolder.entry("/a", 0, fields: short).held * 3
                / 2)
    }

    // MARK: - What is said

    private func session(_ store: CacheStore, _ transport: MockTransport) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.cache = HTTPSession.Cache(store)
        // However slow the disk is, nobody gives up waiting for it.
        try configuration.use(ManualClock())
        return try HTTPSession(configuration)
    }

    @Test(arguments: [3, 100_000]) func `only a stored response is reported as stored`(count: Int) async throws {
        let store = await scratch.open(CacheCapacity(memory: 0, disk: 64 << 20))
        let transport = MockTransport()
        let body = TestCacheFolder.bytes(count)
        transport.on { _ in true }.respond(fields: Self.fresh, body: body).always()
        let session = try session(store, transport)
        let stored = try await session.get("/a", as: .bytes)
        await store.written(within: nil)
        #expect(stored.cacheUse?.status == "dunlin; fwd=uri-miss; fwd-status=200; stored")
        for operation in [CacheFolder.Operation.create, .write, .rename, .lock] {
            scratch.fail([operation])
            let name = "\(operation)"
            let response = try await session.get("/\(name)", as: .bytes)
            #expect(response.value == body)
            await store.written(within: nil)
            #expect(response.cacheUse?.status == "dunlin; fwd=uri-miss; fwd-status=200")
        }
        await session.shutdown()
        await store.close()
    }

    @Test func `a stream says that it was stored once it has ended, and not before`() async throws {
        let store = await scratch.open(CacheCapacity(memory: 0, disk: 64 << 20))
        let transport = MockTransport()
        transport.on { _ in true }.stream(["abc", "def"], fields: Self.fresh).always()
        let session = try session(store, transport)
        for isFull in [false, true] {
            scratch.fail(isFull ? [.write] : [])
            try await session.withResponse(from: isFull ? "/full" : "/a") { response in
                #expect(response.cacheUse?.status == "dunlin; fwd=uri-miss; fwd-status=200")
                for try await _ in response.body {}
                await store.written(within: nil)
                #expect(response.cacheUse?.status.hasSuffix("; stored") != isFull)
            }
        }
        await session.shutdown()
        await store.close()
    }

    @Test func `a response that does not fit into memory is not reported as stored`() async throws {
        let store = CacheStore(
            CacheCapacity(memory: 20_000, disk: 0, largestShare: 1), folder: nil, rules: TestCacheFolder.rules
        ) { _ in }
        let transport = MockTransport()
        for (path, count) in [("/small", 1000), ("/large", 19_500)] {
            transport.on(.get, path).respond(fields: Self.fresh, body: TestCacheFolder.bytes(count)).always()
        }
        let session = try session(store, transport)
        #expect(try await session.get("/small", as: .bytes).cacheUse?.status.hasSuffix("; stored") == true)
        #expect(try await session.get("/large", as: .bytes).cacheUse?.status.hasSuffix("; stored") == false)
        await session.shutdown()
    }
}
