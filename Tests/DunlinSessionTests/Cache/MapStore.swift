import DunlinSemantics
import DunlinTypes
import Synchronization

@testable import DunlinSession

/// A store in a dictionary, without limits.
final class MapStore: ResponseStore {
    final class Body: StoredBody {
        let all: Bytes
        let bytes: Bytes?

        init(_ bytes: Bytes, isAtHand: Bool) {
            all = bytes
            self.bytes = isAtHand ? bytes : nil
        }

        var count: Int { all.count }

        /// Few at a time, so that a body takes several reads.
        func read(from offset: Int, upTo count: Int) async throws -> Bytes {
            all[offset..<min(offset + min(count, 3), all.count)]
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

        func finish(as entry: CacheEntry, replacing replaced: [StoredResponse]) async {
            let body = Body(Bytes(bytes.withLock(\.self)), isAtHand: store.isAtHand)
            precondition(body.count == entry.body.range.count)
            await store.remove(replaced)
            store.stored.withLock { $0.append(StoredResponse(entry: entry, level: store.level, body: body)) }
        }

        func abandon() async { store.abandoned.withLock { $0 += 1 } }
    }

    let stored = Mutex<[StoredResponse]>([])
    let abandoned = Mutex(0)
    let isAtHand: Bool
    var all: [StoredResponse] { stored.withLock(\.self) }
    var level: StoredResponse.Level { isAtHand ? .memory : .disk }

    init(isAtHand: Bool) { self.isAtHand = isAtHand }

    func responsesAtHand(for key: CacheKey) -> [StoredResponse]? {
        isAtHand ? stored.withLock { $0.filter { $0.entry.key == key } } : nil
    }

    func responses(for key: CacheKey) async -> [StoredResponse] {
        stored.withLock { $0.filter { $0.entry.key == key } }
    }

    func writer(for key: CacheKey, length: Int?, behind part: StoredResponse?) async -> (any ResponseWriter)? {
        Writer(self, (part?.body as? Body)?.all ?? .empty)
    }

    func update(_ response: StoredResponse, to entry: CacheEntry) async {
        stored.withLock { stored in
            for index in stored.indices where stored[index].body === response.body {
                stored[index] = StoredResponse(entry: entry, level: level, body: response.body)
            }
        }
    }

    func remove(_ responses: [StoredResponse]) async {
        stored.withLock { $0.removeAll { stored in responses.contains { $0.body === stored.body } } }
    }

    func remove(_ keys: [CacheKey]) async { stored.withLock { $0.removeAll { keys.contains($0.entry.key) } } }
}
