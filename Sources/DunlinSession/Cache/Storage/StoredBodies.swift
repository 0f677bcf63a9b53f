internal import DunlinReactor

/// A body in memory.
final class MemoryBody: StoredBody {
    private let stored: Bytes

    /// Keeps nothing else of the storage that they are in.
    init(_ bytes: Bytes) {
        stored = Bytes(bytes.array)
    }

    var count: Int { stored.count }
    var bytes: Bytes? { stored }

    func read(from offset: Int, upTo count: Int) async throws -> Bytes {
        guard offset >= 0, offset < stored.count, count > 0 else { throw CacheDamage() }
        return stored[offset..<min(stored.count, offset + min(count, stored.count))]
    }
}

/// A body in a file of its own, which is open: whatever becomes of its name, it can be read.
final class FileBody: StoredBody {
    let count: Int
    private let file: OpenFile
    private let id: UInt64
    private let name: CacheName
    private let level: DiskLevel

    init(_ file: OpenFile, count: Int, _ name: CacheName, _ id: UInt64, of level: DiskLevel) {
        (self.file, self.count, self.name, self.id, self.level) = (file, count, name, id, level)
    }

    var bytes: Bytes? { nil }

    /// What is left of one block, at most.
    func read(from offset: Int, upTo count: Int) async throws -> Bytes {
        guard offset >= 0, offset < self.count, count > 0 else { throw CacheDamage() }
        let block = offset / BodyBlocks.size
        guard let bytes = await level.threads.run({ self.block(block) }) else {
            level.damaged(name, id)
            throw CacheDamage()
        }
        let start = offset - block * BodyBlocks.size
        return bytes[start..<min(bytes.count, start + min(count, BodyBlocks.size))]
    }

    /// Nil if it is not what was written.
    private func block(_ block: Int) -> Bytes? {
        let range = BodyBlocks.range(of: block, in: count)
        do throws(Errno) {
            let bytes = try level.folder.read(
                file, at: BodyBlocks.offset(of: block), upTo: range.count + BodyBlocks.sumSize)
            return bytes.count == range.count + BodyBlocks.sumSize ? BodyBlocks.opened(bytes, id, block) : nil
        } catch {
            return nil
        }
    }
}
