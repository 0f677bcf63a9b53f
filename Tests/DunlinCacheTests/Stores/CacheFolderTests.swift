import DunlinReactor
import DunlinSemantics
import DunlinTypes
import Foundation
import LedgerRows
import Testing

@testable import DunlinCache

/// What becomes of a folder that others use, that is damaged, and that fails.
@Suite(.timeLimit(.minutes(10))) struct `Cache folder` {
    private static let small = CacheCapacity(memory: 0, disk: 64 << 20)

    @Test func `another process finds what was stored, and its changes are seen`() async throws {
        let scratch = TestCacheFolder()
        let (one, other) = (await scratch.open(Self.small), await scratch.open(Self.small))
        let body = TestCacheFolder.bytes(100_000)
        await one.put("/a", "short")
        await one.put("/b", body)
        #expect(try await other.bodies("/a") == ["short"])
        #expect(try await other.bodies("/b") == [body])
        let read = try #require(await other.found("/b").first?.body)
        _ = try await read.read(from: 0, upTo: 1)
        let unread = try #require(await other.found("/b").first?.body)
        await one.put("/b", "newer", replacing: await one.found("/b"))
        #expect(try await other.bodies("/b") == ["newer"])
        #expect(try await read.all() == body)
        await #expect(throws: CacheDamage(.absence)) { try await unread.all() }
        await other.remove([TestCacheFolder.key("/a")])
        #expect(await one.found("/a").isEmpty)
        await one.close()
        await other.close()
        #expect(scratch.troubles.isEmpty)
    }

    @Test func `a response is found with all its fields, cookies that it set included`() async throws {
        let scratch = TestCacheFolder()
        let fields: Fields = ["Cache-Control": "max-age=60", "Set-Cookie": "id=1", "X-Api-Key": "k"]
        let store = await scratch.open(Self.small)
        await store.put("/a", "short", entry: TestCacheFolder.entry("/a", 5, fields: fields))
        await store.close()
        let later = await scratch.open(Self.small)
        #expect(await later.found("/a").map(\.entry.fields) == [fields])
        await later.close()
    }

    private static func body(_ round: Int) -> Bytes {
        TestCacheFolder.bytes(round % 3 == 0 ? 70_000 : 100, seed: UInt64(round))
    }

    @Test func `many writers of one key and of many leave nothing but what was stored`() async throws {
        let scratch = TestCacheFolder()
        let stores = [await scratch.open(Self.small), await scratch.open(Self.small), await scratch.open(Self.small)]
        await withTaskGroup { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    for round in 0..<40 {
                        let path = "/\(round % 4)"
                        await store.put(path, Self.body(round), replacing: await store.found(path))
                        if round % 7 == index { await store.remove([TestCacheFolder.key(path)]) }
                    }
                }
            }
        }
        let allowed = Set((0..<40).map(Self.body))
        for path in 0..<4 {
            for body in try await stores[0].bodies("/\(path)") { #expect(allowed.contains(body)) }
        }
        for store in stores { await store.close() }
        let list = await (await scratch.open(Self.small)).list()
        let long = list.filter { $0.count > 16_384 }.count
        #expect(try scratch.files().count == Set(list.map(\.entry.key)).count + long)
        #expect(scratch.troubles.isEmpty)
    }

    @Test(.rules("9111-7.3-2")) func `a folder and its files are for their user alone`() async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        await store.put("/a", TestCacheFolder.bytes(100_000))
        #expect(try scratch.permissions(of: "") == 0o700)
        for file in try scratch.files() { #expect(try scratch.permissions(of: file) == 0o600) }
        await store.close()
    }

    @Test func `a folder that others may write to is not used`() async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        await store.put("/a", "short")
        await store.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: scratch.path)
        let later = await scratch.open(CacheCapacity(memory: 8 << 20, disk: 64 << 20))
        #expect(await later.found("/a").isEmpty)
        // Memory does not need it.
        await later.put("/a", "new")
        #expect(try await later.bodies("/a") == ["new"])
        #expect(scratch.troubles == [.ownedByOthers(.group)])
        #expect(try scratch.files().count == 1)
        await later.close()
    }

    @Test(
        arguments: [
            (.kind, "/c, the path of the cache folder, is no folder: remove it, or choose another path"),
            (
                .owner(7),
                "The cache folder /c belongs to user 7: chown it to the user of this program, or choose another folder"
            ),
            (.group, "The group of the cache folder /c may write to it: forbid that by chmod g-w"),
            (.others, "Every user may write to the cache folder /c: forbid that by chmod o-w"),
        ] as [(FileOwnership.Fault, String)])
    func `the warning about a folder of others says what is wrong with it and what to do`(
        fault: FileOwnership.Fault, expected: String
    ) {
        let trouble = CacheTrouble(kind: .ownedByOthers(fault), folder: "/c")
        #expect(trouble.description == expected + "; nothing is stored there")
    }

    @Test func `nothing is found through a damaged head`() async throws {
        let scratch = TestCacheFolder()
        let bodies = ["/short": TestCacheFolder.bytes(500), "/long": TestCacheFolder.bytes(150_000)]
        for offset in stride(from: 0, to: 900, by: 41) {
            let store = await scratch.open(Self.small)
            for (path, body) in bodies { await store.put(path, body, replacing: await store.found(path)) }
            // Those of the heads too.
            for file in try scratch.files() { try scratch.damage(file, at: offset % scratch.length(of: file)) }
            for path in bodies.keys { #expect(await store.found(path).isEmpty) }
            await store.backgroundEnded()
            await store.close()
            // Only the long body is left, which nothing leads to.
            #expect(try scratch.files().count <= 1)
            await (await scratch.open(Self.small)).close()
            #expect(try scratch.files().isEmpty)
        }
        #expect(scratch.troubles.allSatisfy { $0 == .damage })
    }

    @Test func `a damaged block is not returned, those before it are, and the response is removed`() async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        let body = TestCacheFolder.bytes(200_000)
        await store.put("/a", body)
        let file = try #require(try scratch.files().first { try scratch.length(of: $0) > 200_000 })
        try scratch.damage(file, at: BodyBlocks.offset(of: 2) + 5)
        let stored = try #require(await store.found("/a").first?.body)
        var read: [UInt8] = []
        await #expect(throws: CacheDamage.self) {
            while true { read += try await stored.read(from: read.count, upTo: 1_000_000) }
        }
        #expect(Bytes(read) == body[..<131_072])
        await store.backgroundEnded()
        #expect(await store.found("/a").isEmpty)
        #expect(try scratch.files().isEmpty)
        #expect(scratch.troubles == [.damage])
        #expect(store.figures.disk?.damages == 1)
        await store.close()
    }

    @Test func `a body that was cut, or is gone, is not found`() async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        for isGone in [true, false] {
            await store.put("/a", "short")
            await store.put("/a", TestCacheFolder.bytes(100_000))
            let file = try #require(try scratch.files().first { try scratch.length(of: $0) > 90_000 })
            let path = scratch.path + "/" + file
            if isGone {
                try FileManager.default.removeItem(atPath: path)
            } else {
                let handle = try #require(FileHandle(forWritingAtPath: path))
                try handle.truncate(atOffset: 65_000)
            }
            #expect(try await store.bodies("/a") == ["short"])
            #expect(try scratch.files().count == 1)
            await store.remove([TestCacheFolder.key("/a")])
        }
        await store.close()
    }

    @Test func `files of ended processes and of other versions are swept, those of others are left alone`() async throws
    {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        await store.put("/a", TestCacheFolder.bytes(100_000))
        let writer = try #require(await store.writer(for: TestCacheFolder.key("/b"), length: nil))
        await writer.write(TestCacheFolder.bytes(100_000))
        let kept = try scratch.files()
        #expect(kept.count == 3)
        let name = try #require(CacheName(TestCacheFolder.key("/c")))
        let litter = [
            CacheFileName.temporary(1).text, CacheFileName.body(name, 1).text, "dunlin-cache-0-whatever",
        ]
        for file in litter + ["photo.jpg", "dunlin-cache-3-lock"] {
            #expect(FileManager.default.createFile(atPath: scratch.path + "/" + file, contents: Data("x".utf8)))
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -90_000)],
            ofItemAtPath: scratch.path + "/dunlin-cache-0-whatever")
        let other = await scratch.open(Self.small)
        #expect(
            try scratch.files()
                == (kept + ["dunlin-cache-3-lock", "photo.jpg"].filter { !$0.hasSuffix("-lock") }).sorted())
        await writer.finish(as: TestCacheFolder.entry("/b", 100_000), replacing: [])
        #expect(await other.found("/b").count == 1)
        await other.removeAll()
        #expect(try scratch.files() == ["photo.jpg"])
        await store.close()
        await other.close()
    }

    @Test func `the next process knows what was used again, and keeps it during a scan`() async throws {
        let scratch = TestCacheFolder()
        let capacity = CacheCapacity(memory: 8 << 20, disk: 400_000, largestShare: 0.3)
        let first = await scratch.open(capacity)
        for index in 0..<20 { await first.put("/\(index)", TestCacheFolder.bytes(1000)) }
        // One in memory, one on the disk.
        _ = await first.found("/3")
        _ = await first.found("/3")
        await first.backgroundEnded()
        await first.close()
        let second = await scratch.open(CacheCapacity(memory: 0, disk: 400_000, largestShare: 0.3))
        _ = await second.found("/4")
        // The mark outlasts another head.
        await second.update(
            try #require(await second.found("/4").first),
            to: TestCacheFolder.entry("/4", 1000, fields: ["ETag": "\"2\""]))
        await second.close()
        let third = await scratch.open(CacheCapacity(memory: 0, disk: 400_000, largestShare: 0.3))
        for index in 100..<250 { await third.put("/\(index)", TestCacheFolder.bytes(1000)) }
        #expect(await third.found("/3").count == 1)
        #expect(await third.found("/4").count == 1)
        #expect(await third.found("/5").isEmpty)
        await third.close()
    }

    // MARK: - Failures

    @Test(arguments: [CacheFolder.Operation.create, .write, .rename, .lock], [5, 100_000])
    func `what cannot be written is not stored, which is reported once`(
        operation: CacheFolder.Operation, count: Int
    ) async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        scratch.fail([operation])
        for _ in 0..<3 {
            await store.put("/a", TestCacheFolder.bytes(count))
            #expect(await store.found("/a").isEmpty)
        }
        #expect(scratch.troubles == [.writing(Errno(rawValue: ENOSPC))])
        #expect(try scratch.files().isEmpty)
        scratch.fail([])
        await store.put("/a", TestCacheFolder.bytes(count))
        #expect(try await store.bodies("/a") == [TestCacheFolder.bytes(count)])
        await store.close()
    }

    @Test(arguments: CacheFolder.Operation.allCases, [EIO, EROFS, EACCES, EMFILE])
    func `no failure reaches the caller, and what is removed is not found again`(
        operation: CacheFolder.Operation, errno: Int32
    ) async throws {
        let scratch = TestCacheFolder()
        let first = await scratch.open(Self.small)
        for path in ["/a", "/b"] { await first.put(path, TestCacheFolder.bytes(path == "/a" ? 10 : 100_000)) }
        await first.close()
        scratch.fail([operation], errno)
        let store = await scratch.open(Self.small)
        for path in ["/a", "/b"] {
            if let response = await store.found(path).first {
                do { _ = try await response.body.all() } catch { #expect(error is CacheDamage) }
                await store.update(
                    response, to: TestCacheFolder.entry(path, response.body.count, fields: ["ETag": "\"2\""]))
            }
            await store.remove([TestCacheFolder.key(path)])
            scratch.fail(operation == .remove || operation == .lock || operation == .prepare ? [operation] : [], errno)
            #expect(await store.found(path).isEmpty)
            scratch.fail([operation], errno)
        }
        #expect(Set(scratch.troubles).count == scratch.troubles.count)
        await store.removeAll()
        await store.close()
    }

    @Test func `a folder that is gone is made again`() async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        await store.put("/a", "short")
        for count in [5, 100_000] {
            try FileManager.default.removeItem(atPath: scratch.path)
            #expect(await store.found("/a").isEmpty)
            await store.put("/a", TestCacheFolder.bytes(count))
            #expect(try await store.bodies("/a") == [TestCacheFolder.bytes(count)])
        }
        await store.close()
        #expect(scratch.troubles.isEmpty)
    }

    @Test func `a folder that cannot be created is reported once, and memory works without it`() async throws {
        let scratch = TestCacheFolder()
        #expect(FileManager.default.createFile(atPath: scratch.path, contents: Data()))
        let store = await scratch.open()
        for path in ["/a", "/b"] {
            await store.put(path, "short")
            #expect(try await store.bodies(path) == ["short"])
        }
        #expect(scratch.troubles == [.folder(Errno(rawValue: ENOTDIR))])
        await store.close()
    }

    @Test func `a closed store finds and stores nothing on the disk`() async throws {
        let scratch = TestCacheFolder()
        let store = await scratch.open(Self.small)
        await store.put("/a", "short")
        let long = TestCacheFolder.bytes(100_000)
        await store.put("/b", long)
        let found = try #require(await store.found("/b").first)
        await store.close()
        await store.close()
        #expect(await store.found("/a").isEmpty)
        #expect(!(await store.put("/c", "short")))
        #expect(try await found.body.all() == long)
        #expect(try scratch.files().count == 3)
    }
}
