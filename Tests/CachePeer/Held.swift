import DunlinCache
import DunlinSemantics
import DunlinTypes
import Foundation
import Glibc

/// What the memory level counts, beside what the process takes up for it.
enum Held {
    /// Whether no shape of response takes up more than it counts, but for a tenth.
    static func run() async -> Bool {
        let names = (0..<9000).map { "n\($0)" }.joined(separator: ",")
        var many = Fields()
        for number in 0..<100 { many.append(name: "x-\(number)", value: "") }
        let shapes: [(String, Fields, Int)] = [
            ("names in no-cache", ["Cache-Control": "no-cache=\"\(names)\", max-age=60", "ETag": "\"1\""], 10),
            ("many short fields", many, 0),
            ("an age and a long tag", ["Age": "1", "ETag": "\"" + String(repeating: "t", count: 2000) + "\""], 0),
            ("nothing", Fields(), 0),
            ("a body", ["ETag": "\"1\""], 20_000),
        ]
        var isRight = true
        // None is released before the last is measured, whose memory would not be new.
        var stores: [CacheStore] = []
        for (name, fields, count) in shapes {
            let before = resident()
            stores.append(await filled(fields, count))
            let (counted, taken) = (stores.last?.figures.memory.bytes ?? 0, resident() - before)
            print("\(name): \(counted >> 10) KiB counted, \(taken >> 10) KiB taken up")
            if taken > counted * 11 / 10 { isRight = false }
        }
        return isRight && stores.count == shapes.count
    }

    private static func filled(_ fields: Fields, _ count: Int) async -> CacheStore {
        let store = CacheStore(
            CacheCapacity(memory: 32 << 20, disk: 0, largestShare: 1), folder: nil, rules: Responses.rules
        ) { _ in }
        for number in 0..<20_000 {
            if store.figures.memory.evictions > 0 { break }
            let key = Responses.key("h\(number)")
            guard let writer = await store.writer(for: key, length: count) else { break }
            await writer.write(Responses.body("h\(number)", seed: 1, count: count))
            let entry = CacheEntry(
                key: key, selecting: SelectingFields(), status: .ok, fields: fields.filtered { _ in true },
                sentAt: 1000, receivedAt: 1001, body: .whole(count), rules: Responses.rules)
            await writer.finish(as: entry, replacing: [])
        }
        return store
    }

    /// The memory that this process has now, in bytes.
    private static func resident() -> Int {
        let figures = Result { try String(contentsOfFile: "/proc/self/statm", encoding: .utf8) }
        guard case .success(let text) = figures else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * Int(getpagesize())
    }
}
