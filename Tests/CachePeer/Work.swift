import DunlinCache
import DunlinReactor
import DunlinSemantics
import DunlinTesting
import DunlinTypes
import Glibc
import Synchronization

/// Stores, reads, renews and removes at random, several at a time.
struct Work {
    private static let lengths = [0, 10, 1000, 16_384, 16_385, 65_536, 100_000]
    static let paths = 12

    private let store: CacheStore
    private let seed: UInt64

    init(_ folder: String, capacity: Int, seed: UInt64, operations: UInt64?) {
        self.seed = seed
        let count = Counter(operations)
        let cacheFolder = CacheFolder(folder) { _ in
            count.step()
            return nil
        }
        store = CacheStore(
            CacheCapacity(memory: 100_000, disk: capacity, largestShare: 0.3), folder: cacheFolder,
            rules: Responses.rules
        ) { _ in }
    }

    /// Returns when something was wrong.
    func run() async {
        await withTaskGroup { group in
            for number in 0..<4 { group.addTask { await work(SeededGenerator(seed: seed &* 4 &+ UInt64(number))) } }
            await group.next()
            group.cancelAll()
        }
    }

    private func work(_ dice: SeededGenerator) async {
        var dice = dice
        while !Task.isCancelled {
            let path = "p\(dice.next(below: Self.paths))"
            let found = await store.responses(for: Responses.key(path))
            switch dice.next(below: 20) {
            case 0..<8: await put(path, &dice, replacing: dice.next(below: 3) == 0 ? [] : found)
            case 8..<12:
                if let first = found.first, let tag = Tag(first.entry) {
                    await store.update(
                        first, to: Responses.entry(path, seed: tag.seed, count: tag.count, age: dice.next(below: 99)))
                }
            case 12: await store.remove([Responses.key(path)])
            case 13: await store.remove(found)
            default: for response in found where await isWrong(response, path) { return }
            }
        }
    }

    /// Damage is not expected here: nobody but these processes writes to the folder.
    private func isWrong(_ response: StoredResponse, _ path: String) async -> Bool {
        await Responses.fault(response, path) != nil
    }

    private func put(_ path: String, _ dice: inout SeededGenerator, replacing found: [StoredResponse]) async {
        let (seed, count) = (dice.next(below: 1_000_000), Self.lengths[dice.next(below: Self.lengths.count)])
        guard let writer = await store.writer(for: Responses.key(path), length: count) else { return }
        let body = Responses.body(path, seed: seed, count: count)
        let piece = 1 + dice.next(below: 40_000)
        for start in stride(from: 0, to: count, by: piece) {
            await writer.write(body[start..<min(start + piece, count)])
        }
        if dice.next(below: 10) == 0 { return await writer.discard() }
        let entry = Responses.entry(path, seed: seed, count: count, age: 0)
        if dice.next(below: 2) == 0 {
            _ = await writer.hand(as: entry, replacing: found) { _ in }
        } else {
            await writer.finish(as: entry, replacing: found)
        }
    }
}

/// What an entity tag says of its body.
private struct Tag {
    let seed: Int
    let count: Int

    init?(_ entry: CacheEntry) {
        let parts = (entry.fields["ETag"] ?? "").split { $0 == " " || $0 == "\"" }
        guard parts.count == 3, let seed = Int(parts[1]), let count = Int(parts[2]) else { return nil }
        (self.seed, self.count) = (seed, count)
    }
}

/// Ends the process before the operation of a number.
private final class Counter: Sendable {
    private let left: Mutex<UInt64?>

    init(_ count: UInt64?) {
        left = Mutex(count)
    }

    func step() {
        let isOver = left.withLock { left in
            guard let count = left else { return false }
            left = count - min(1, count)
            return count == 0
        }
        if isOver { kill(getpid(), SIGKILL) }
    }
}
