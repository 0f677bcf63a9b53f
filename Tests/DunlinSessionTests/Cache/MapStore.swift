import DunlinCache
import DunlinSemantics
import DunlinTypes
import Synchronization

@testable import DunlinSession

/// A store in a dictionary, without limits.
final class MapStore: ResponseStore {
    final class Body: StoredBody {
        let all: Bytes
        let bytes: Bytes?
        private let reading: @Sendable (Int) throws(CacheDamage) -> Void

        init(_ bytes: Bytes, isAtHand: Bool, reading: @escaping @Sendable (Int) throws(CacheDamage) -> Void) {
            all = bytes
            self.bytes = isAtHand ? bytes : nil
            self.reading = reading
        }

        var count: Int { all.count }

        /// Few at a time, so that a body takes several reads.
        func read(from offset: Int, upTo count: Int, within wait: StoreWait?) async throws(CacheDamage) -> Bytes {
            try reading(offset)
            return all[offset..<min(offset + min(count, 3), all.count)]
        }
    }

    final class Writer: ResponseWriter {
        private let store: MapStore
        private let bytes: Mutex<[UInt8]>

        init(_ store: MapStore, _ beginning: Bytes) {
            self.store = store
            bytes = Mutex(Array(beginning))
        }

        func write(_ bytes: Bytes) async { self.bytes.withLock { $0 += Array(bytes) } }

        func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async -> Bool {
            let body = Body(Bytes(bytes.withLock(\.self)), isAtHand: store.isAtHand) {
                [store] offset throws(CacheDamage) in
                try store.reading.withLock(\.self)(offset)
            }
            precondition(body.count == entry.body.range.count)
            await store.remove(replaced, within: nil)
            store.stored.withLock { stored in
                let response = StoredResponse(
                    entry: entry, level: store.level, body: body, id: .random(in: 1 ... .max))
                stored.append(response)
            }
            return true
        }

        func discard() async { store.discarded.withLock { $0 += 1 } }
    }

    let stored = Mutex<[StoredResponse]>([])
    let discarded = Mutex(0)
    let isAtHand: Bool
    /// The longest body, and what happens when one is read, at which offset.
    let longest = Mutex(Int.max)
    let reading = Mutex<@Sendable (Int) throws(CacheDamage) -> Void>({ _ in })
    var all: [StoredResponse] { stored.withLock(\.self) }
    var level: StoredResponse.Level { isAtHand ? .memory : .disk }

    init(isAtHand: Bool) { self.isAtHand = isAtHand }

    func responsesAtHand(for key: CacheKey) -> [StoredResponse]? {
        isAtHand ? stored.withLock { $0.filter { $0.entry.key == key } } : nil
    }

    func responses(for key: CacheKey, within wait: StoreWait?) async -> [StoredResponse] {
        stored.withLock { $0.filter { $0.entry.key == key } }
    }

    func removals(of key: CacheKey) -> UInt64 { 0 }

    func removals(of key: CacheKey, by keys: [CacheKey]) -> UInt64 { 0 }

    func writer(
        for key: CacheKey, length: Int?, since removals: UInt64?, within wait: StoreWait?
    ) async -> (any ResponseWriter)? {
        length ?? 0 <= longest.withLock(\.self) ? Writer(self, .empty) : nil
    }

    func writer(
        for key: CacheKey, length: Int?, behind part: StoredResponse, since removals: UInt64?, within wait: StoreWait?
    ) async throws(CacheDamage) -> (any ResponseWriter)? {
        Writer(self, (part.body as? Body)?.all ?? .empty)
    }

    func update(_ response: StoredResponse, to entry: CacheEntry, within wait: StoreWait?) async {
        stored.withLock { stored in
            for index in stored.indices where stored[index].body === response.body {
                stored[index] = StoredResponse(entry: entry, level: level, body: response.body, id: response.id)
            }
        }
    }

    func remove(_ responses: [StoredResponse], within wait: StoreWait?) async {
        stored.withLock { $0.removeAll { stored in responses.contains { $0.body === stored.body } } }
    }

    func remove(_ keys: [CacheKey], within wait: StoreWait?) async {
        stored.withLock { $0.removeAll { keys.contains($0.entry.key) } }
    }
}
