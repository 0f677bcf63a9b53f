import Children
import DunlinCache
import DunlinTesting
import DunlinTypes
import Foundation
import Glibc
import Synchronization

/// A folder that has far more in it than whoever opens it may keep: a process that stored without end was ended. It is
/// asked and stored into while it is read and what is too much is thrown out.
///
/// In the end what is counted is there, and as much as there is room for: nothing was thrown out twice, or for want of
/// room that was there.
struct Crowd {
    private static let length = 1024
    private static let block = 4096

    let count: Int
    let capacity: Int

    func run() async -> Bool {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dunlin-cache-crowd-\(getpid())").path
        defer { _ = Result { try FileManager.default.removeItem(atPath: folder) } }
        do {
            try await fill(folder)
            return try await open(folder)
        } catch {
            print("violation: \(error)")
            return false
        }
    }

    /// A process fills the folder until it is ended.
    private func fill(_ folder: String) async throws {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let child = try Child(program, ["fill", folder], environment: Child.ownEnvironment)
        while try names(folder).count < count { try await Task.sleep(for: .milliseconds(100)) }
        child.signal(SIGTERM)
        _ = await child.ended()
    }

    private func names(_ folder: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        // What is being written, and what is no response.
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.contains("-new-") }
            .filter { !$0.hasSuffix("-lock") && !$0.hasSuffix("-salt") }
    }

    /// What a process of its own does until it is ended.
    static func fill(_ folder: String) async {
        let store = store(folder, 1 << 40)
        await withTaskGroup { group in
            for part in 0..<4 {
                group.addTask {
                    for number in 0... { await put("c\(number * 4 + part)", into: store) }
                }
            }
        }
    }

    private static func store(_ folder: String, _ capacity: Int) -> CacheStore {
        CacheStore(
            CacheCapacity(memory: 0, disk: capacity), folder: CacheFolder(folder), rules: Responses.rules
        ) { print("trouble: \($0)") }
    }

    private static func put(_ path: String, into store: CacheStore) async {
        guard let writer = await store.writer(for: Responses.key(path), length: length) else { return }
        await writer.write(Responses.body(path, seed: 1, count: length))
        await writer.finish(as: Responses.entry(path, seed: 1, count: length, age: 0), replacing: [])
    }

    private func open(_ folder: String) async throws -> Bool {
        let before = try names(folder).count
        let store = Self.store(folder, capacity)
        var (dice, stored, longest, slowest) = (SeededGenerator(seed: 1), 0, Duration.zero, Duration.zero)
        let clock = ContinuousClock()
        let (start, end) = (clock.now, Ended())
        async let ending: Void = end.wait(for: store)
        while !end.isOver {
            let path = "c\(dice.next(below: before))"
            longest = max(longest, clock.measure { _ = store.responsesAtHand(for: Responses.key(path)) })
            let asked = clock.now
            if await store.responses(for: Responses.key(path)).isEmpty {
                await Self.put(path, into: store)
                stored += 1
            }
            slowest = max(slowest, clock.now - asked)
        }
        await ending
        await store.backgroundEnded()
        guard let disk = store.figures.disk else { return false }
        let (after, room) = (try names(folder).count, capacity / Self.block)
        print(
            """
            \(before) entries, \(stored) stored, \(after) left of \(room), \(disk.keys) counted, \(disk.evictions) \
            thrown out in \(clock.now - start); nobody was held for longer than \(longest), or waited for \(slowest)
            """)
        let isRight = after == disk.keys && disk.bytes == disk.keys * Self.block && disk.bytes <= capacity
        let isFull = after >= min(before, room * 9 / 10) && disk.evictions <= before + stored
        if !isRight || !isFull { print("violation") }
        return isRight && isFull
    }
}

/// Whether a store does nothing in the background any more.
private final class Ended: Sendable {
    private let over = Atomic(false)

    var isOver: Bool { over.load(ordering: .acquiring) }

    func wait(for store: CacheStore) async {
        await store.backgroundEnded()
        over.store(true, ordering: .releasing)
    }
}
