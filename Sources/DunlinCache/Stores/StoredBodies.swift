internal import DunlinReactor
internal import DunlinTypes
internal import Synchronization

/// A body in memory.
final class MemoryBody: StoredBody {
    private let stored: Bytes

    /// Creates a body with a copy of the bytes, so that it keeps no other part of their storage.
    init(_ bytes: Bytes) {
        stored = Bytes(bytes.array)
    }

    var count: Int { stored.count }
    var bytes: Bytes? { stored }

    func read(from offset: Int, upTo count: Int, within wait: StoreWait?) async throws(CacheDamage) -> Bytes {
        guard offset >= 0, offset < stored.count, count > 0 else { throw CacheDamage() }
        return stored[offset..<min(stored.count, offset + min(count, stored.count))]
    }
}

/// A body in a file of its own, opened when first read: after that it can be read to its end, whatever happens to its
/// name. Until it is read it has no descriptor.
final class FileBody: StoredBody {
    private enum Block {
        case bytes(Bytes)
        /// Others removed or replaced it before it was opened.
        case gone
        case damaged
    }

    let count: Int
    private let id: UInt64
    private let name: CacheName
    private let level: DiskLevel
    private let file = AtomicLazyReference<OpenFile>()

    init(count: Int, _ name: CacheName, _ id: UInt64, of level: DiskLevel) {
        (self.count, self.name, self.id, self.level) = (count, name, id, level)
    }

    var bytes: Bytes? { nil }

    /// Reads at most the rest of one block.
    func read(from offset: Int, upTo count: Int, within wait: StoreWait?) async throws(CacheDamage) -> Bytes {
        guard offset >= 0, offset < self.count, count > 0 else { throw CacheDamage() }
        let block = offset / BodyBlocks.size
        guard let found = await level.run(within: wait, { self.block(block) }) else { throw CacheDamage(.slowness) }
        switch found {
        case .bytes(let bytes):
            let start = offset - block * BodyBlocks.size
            return bytes[start..<min(bytes.count, start + min(count, BodyBlocks.size))]
        case .gone: throw CacheDamage(.absence)
        case .damaged:
            level.damaged(name, id)
            throw CacheDamage()
        }
    }

    private func block(_ block: Int) -> Block {
        let range = BodyBlocks.range(of: block, in: count)
        do throws(Errno) {
            guard let file = try opened() else { return .gone }
            guard file.length == BodyBlocks.fileLength(of: count) else { return .damaged }
            let bytes = try level.folder.read(
                file, at: BodyBlocks.offset(of: block), upTo: range.count + BodyBlocks.sumSize)
            let isWhole = bytes.count == range.count + BodyBlocks.sumSize
            return (isWhole ? BodyBlocks.opened(bytes, id, block) : nil).map { .bytes($0) } ?? .damaged
        } catch {
            return .damaged
        }
    }

    private func opened() throws(Errno) -> OpenFile? {
        if let file = file.load() { return file }
        guard let new = try level.folder.open(.body(name, id)) else { return nil }
        return file.storeIfNil(new)
    }
}
