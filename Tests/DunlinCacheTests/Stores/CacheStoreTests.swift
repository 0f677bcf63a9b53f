import DunlinSemantics
import DunlinTypes
import Testing

@testable import DunlinCache

/// What holds for memory alone, for a disk alone, and for both.
@Suite(.timeLimit(.minutes(10))) struct `Cache store` {
    enum Levels: CaseIterable, Sendable {
        case memory, disk, both

        func open(_ scratch: TestCacheFolder) async -> CacheStore {
            switch self {
            case .memory:
                let capacity = CacheCapacity(memory: 8 << 20, disk: 0, largestShare: 0.1)
                return CacheStore(capacity, folder: nil, rules: TestCacheFolder.rules) { _ in }
            case .disk: return await scratch.open(CacheCapacity(memory: 0, disk: 8 << 20, largestShare: 0.1))
            case .both: return await scratch.open(CacheCapacity(memory: 8 << 20, disk: 8 << 20, largestShare: 0.1))
            }
        }
    }

    @Test(arguments: Levels.allCases, [0, 1, 16_384, 16_385, 65_536, 65_537, 300_000])
    func `what was stored is found, byte for byte`(levels: Levels, count: Int) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let body = TestCacheFolder.bytes(count)
        #expect(await store.found("/a").isEmpty)
        #expect(await store.put("/a", body))
        let found = await store.found("/a")
        #expect(found.map(\.entry.key) == [TestCacheFolder.key("/a")])
        #expect(found.map(\.entry.body) == [.whole(count)])
        #expect(try await store.bodies("/a") == [body])
        #expect(await store.found("/b").isEmpty)
        #expect(found.first?.level == (levels == .memory || levels == .both && count <= 16_384 ? .memory : .disk))
        await store.close()
        #expect(scratch.troubles.isEmpty)
    }

    @Test(arguments: Levels.allCases)
    func `a response requested before its key was removed is not stored`(levels: Levels) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let key = TestCacheFolder.key("/a")
        let before = store.removals(of: key)
        await store.remove([key])
        for (removals, isStored) in [(before, false), (store.removals(of: key), true)] {
            let writer = try #require(await store.writer(for: key, length: 3, since: removals))
            await writer.write("abc")
            await writer.finish(as: TestCacheFolder.entry("/a", 3), replacing: [])
            #expect(await store.found("/a").isEmpty != isStored)
        }
        await store.close()
    }

    @Test(arguments: Levels.allCases)
    func `any part of a body can be read`(levels: Levels) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let body = TestCacheFolder.bytes(200_000)
        await store.put("/a", body)
        let stored = try #require(await store.found("/a").first?.body)
        for (offset, count) in [(0, 1), (65_535, 2), (65_536, 10), (199_999, 5), (131_000, 70_000), (0, .max)] {
            let bytes = try await stored.read(from: offset, upTo: count)
            #expect(!bytes.isEmpty && bytes.count <= count)
            #expect(bytes == body[offset..<offset + bytes.count])
        }
        for offset in [-1, 200_000, .max] {
            await #expect(throws: CacheDamage.self) { try await stored.read(from: offset, upTo: 1) }
        }
        await store.close()
    }

    @Test(arguments: Levels.allCases, [10, 100_000])
    func `a body of another length, or one that is not finished, is never found`(levels: Levels, count: Int)
        async throws
    {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let body = TestCacheFolder.bytes(count)
        await store.put("/a", body, entry: TestCacheFolder.entry("/a", count + 1))
        await store.put("/a", body, entry: TestCacheFolder.entry("/a", count - 1))
        await store.put("/a", body, entry: TestCacheFolder.entry("/b", count))
        let discarded = try #require(await store.writer(for: TestCacheFolder.key("/a"), length: nil))
        await discarded.write(body)
        await discarded.discard()
        await discarded.write(body)
        await discarded.finish(as: TestCacheFolder.entry("/a", count), replacing: [])
        do {
            let released = await store.writer(for: TestCacheFolder.key("/a"), length: nil)
            await released?.write(body)
        }
        #expect(await store.found("/a").isEmpty)
        #expect(await store.found("/b").isEmpty)
        await store.close()
        if levels != .memory {
            // The released one is removed by a thread that nobody waits for.
            while try !scratch.files().isEmpty { await Task.yield() }
        }
    }

    @Test(arguments: Levels.allCases)
    func `several forms are stored under one key, and replaced, renewed and removed one by one`(
        levels: Levels
    ) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let bodies = [
            TestCacheFolder.bytes(10), TestCacheFolder.bytes(50_000, seed: 2), TestCacheFolder.bytes(20, seed: 3),
        ]
        for body in bodies { await store.put("/a", body) }
        #expect(try await store.bodies("/a") == bodies)
        let second = try #require(await store.found("/a").dropFirst().first)
        // From when it was read first.
        _ = try await second.body.read(from: 0, upTo: 1)
        let newer = TestCacheFolder.entry("/a", 50_000, fields: ["ETag": "\"2\""])
        await store.update(second, to: newer)
        let updated = await store.found("/a")
        #expect(updated.map { $0.entry.fields["etag"] } == ["\"1\"", "\"2\"", "\"1\""])
        #expect(try await store.bodies("/a") == bodies)
        await store.put("/a", "new", replacing: [updated[0], updated[1]])
        #expect(try await store.bodies("/a") == [bodies[2], "new"])
        // Neither does anything, since it is not stored any more.
        await store.update(second, to: newer)
        await store.remove([second])
        await store.remove([try #require(await store.found("/a").first)])
        #expect(try await store.bodies("/a") == ["new"])
        // What was found can be read all the same.
        #expect(try await second.body.all() == bodies[1])
        await store.remove([TestCacheFolder.key("/a"), TestCacheFolder.key("/none")])
        #expect(await store.found("/a").isEmpty)
        await store.close()
        if levels != .memory { #expect(try scratch.files().isEmpty) }
    }

    @Test(arguments: Levels.allCases)
    func `of responses under way for the same requests, the last is stored`(
        levels: Levels
    ) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        await store.put("/a", "other")
        for body in ["one", "two"] as [Bytes] { await store.put("/a", body, entry: TestCacheFolder.entry("/a", 3)) }
        #expect(try await store.bodies("/a") == ["other", "two"])
        await store.close()
    }

    @Test(arguments: Levels.allCases, [[10, 10], [10, 30_000], [100_000, 7], [100_000, 0]])
    func `a body goes on behind a part of it that is stored`(levels: Levels, counts: [Int]) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let body = TestCacheFolder.bytes(counts[0] + counts[1])
        await store.put("/a", body[..<counts[0]])
        let part = try #require(await store.found("/a").first)
        let writer = try #require(
            try await store.writer(for: TestCacheFolder.key("/a"), length: counts[1], behind: part))
        await writer.write(body[counts[0]...])
        await writer.finish(as: TestCacheFolder.entry("/a", body.count), replacing: [part])
        #expect(try await store.bodies("/a") == [body])
        await store.close()
    }

    @Test(arguments: Levels.allCases)
    func `a response may use its share of the capacity, and no more`(levels: Levels) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let key = TestCacheFolder.key("/a")
        // A tenth of 8 MiB. What the head takes up does not count in it, on no level.
        let room = 838_860
        #expect(await store.put("/a", TestCacheFolder.bytes(room)))
        #expect(try await store.bodies("/a").count == 1)
        #expect(await store.writer(for: key, length: room + 1) == nil)
        let part = try #require(await store.found("/a").first)
        #expect(try await store.writer(for: key, length: 1, behind: part) == nil)
        // Without a length, it turns out in the end.
        let writer = try #require(await store.writer(for: TestCacheFolder.key("/b"), length: nil))
        for _ in 0..<9 { await writer.write(TestCacheFolder.bytes(100_000)) }
        await writer.finish(as: TestCacheFolder.entry("/b", 900_000), replacing: [])
        #expect(await store.found("/b").isEmpty)
        await store.close()
    }

    @Test(arguments: Levels.allCases)
    func `all of it can be counted, listed and removed`(levels: Levels) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        for index in 0..<5 { await store.put("/\(index)", TestCacheFolder.bytes(index * 10_000)) }
        let list = await store.list().sorted { $0.count < $1.count }
        #expect(list.map(\.count) == [0, 10_000, 20_000, 30_000, 40_000])
        #expect(list.map(\.entry.key.text) == (0..<5).map { "https://a.test/\($0)" })
        let figures = store.figures
        switch levels {
        case .memory: #expect(figures.memory.keys == 5 && figures.disk == nil && figures.memory.bytes > 100_000)
        case .disk: #expect(figures.memory.keys == 0 && figures.disk?.keys == 5)
        case .both: #expect(figures.memory.keys == 2 && figures.disk?.keys == 5)
        }
        // 4 KiB for each head, the short body with it in 16 KiB; long ones in blocks with a checksum each.
        if let disk = figures.disk { #expect(disk.bytes == 4096 * (5 + 2) + 20_480 + 32_768 + 40_960) }
        let writer = try #require(await store.writer(for: TestCacheFolder.key("/w"), length: nil))
        await store.removeAll()
        await writer.write("late")
        await writer.finish(as: TestCacheFolder.entry("/w", 4), replacing: [])
        #expect(await store.list().isEmpty)
        #expect(await store.found("/w").isEmpty)
        #expect(await store.found("/1").isEmpty)
        #expect(store.figures.memory.bytes == 0 && store.figures.disk?.bytes ?? 0 == 0)
        await store.close()
        if levels != .memory { #expect(try scratch.files().isEmpty) }
    }

    @Test(arguments: Levels.allCases)
    func `a removal keeps responses that are arriving from being stored`(levels: Levels) async throws {
        let scratch = TestCacheFolder()
        let store = await levels.open(scratch)
        let writer = try #require(await store.writer(for: TestCacheFolder.key("/a"), length: nil))
        await writer.write(TestCacheFolder.bytes(100_000))
        await store.remove([TestCacheFolder.key("/a")])
        await writer.finish(as: TestCacheFolder.entry("/a", 100_000), replacing: [])
        #expect(await store.found("/a").isEmpty)
        await store.put("/a", "new")
        #expect(try await store.bodies("/a") == ["new"])
        await store.close()
        if levels != .memory { #expect(try scratch.files().count == 1) }
    }

    @Test(arguments: Levels.allCases)
    func `neither level is ever fuller than it may be, and a scan leaves what is used`(levels: Levels) async throws {
        let scratch = TestCacheFolder()
        let capacity = CacheCapacity(
            memory: levels == .disk ? 0 : 200_000, disk: levels == .memory ? 0 : 500_000, largestShare: 0.3)
        let store =
            levels == .memory
            ? CacheStore(capacity, folder: nil, rules: TestCacheFolder.rules) { _ in } : await scratch.open(capacity)
        for index in 0..<3 { await store.put("/used\(index)", TestCacheFolder.bytes(5000)) }
        for index in 0..<3 { _ = await store.found("/used\(index)") }
        for index in 0..<100 {
            await store.put("/\(index)", TestCacheFolder.bytes(index % 10 == 0 ? 40_000 : 8000))
            #expect(store.figures.memory.bytes <= capacity.memory)
            #expect(store.figures.disk?.bytes ?? 0 <= capacity.disk)
        }
        for index in 0..<3 { #expect(await store.found("/used\(index)").count == 1) }
        #expect(await store.found("/1").isEmpty)
        let figures = store.figures
        #expect((levels == .memory ? figures.memory.evictions : figures.disk?.evictions ?? 0) > 50)
        await store.close()
        if levels != .memory {
            let sizes = try scratch.files().map { try scratch.length(of: $0) }
            #expect(sizes.reduce(0) { $0 + DiskIndex.cost(ofFile: $1) } == figures.disk?.bytes)
        }
    }

    @Test func `a response in memory is returned without waiting`() async throws {
        let scratch = TestCacheFolder()
        let store = await Levels.both.open(scratch)
        let key = TestCacheFolder.key("/a")
        #expect(store.responsesAtHand(for: key) == nil)
        await store.put("/a", "short")
        #expect(store.responsesAtHand(for: key)?.first?.body.bytes == "short")
        // With a long one beside it, memory would not have everything.
        await store.put("/a", TestCacheFolder.bytes(100_000))
        #expect(store.responsesAtHand(for: key) == nil)
        await store.close()
        let later = await Levels.both.open(scratch)
        await later.remove([try #require(await later.found("/a").last)])
        #expect(later.responsesAtHand(for: key) == nil)
        _ = await later.found("/a")
        #expect(later.responsesAtHand(for: key)?.first?.body.bytes == "short")
        let alone = await Levels.memory.open(scratch)
        #expect(alone.responsesAtHand(for: key)?.isEmpty == true)
        await later.close()
    }
}
