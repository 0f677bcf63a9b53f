internal import DunlinSecure
internal import DunlinTypes

/// The form of a long body's file: blocks of 64 KiB, each followed by a checksum; the last may be shorter.
///
/// A block's checksum also covers its body's number and its own, so that no other block passes for it, as after a loss
/// of power. The number of blocks follows from the body's length, which is in the key's file.
enum BodyBlocks {
    static var size: Int { 64 << 10 }
    static var sumSize: Int { 8 }

    /// The length of a body's file.
    static func fileLength(of count: Int) -> Int {
        count + (count + size - 1) / size * sumSize
    }

    /// The offset of a block in the file.
    static func offset(of block: Int) -> Int { block * (size + sumSize) }

    /// The range of a body of `count` bytes that is in a block.
    static func range(of block: Int, in count: Int) -> Range<Int> {
        let start = min(block * size, count)
        return start..<min(start + size, count)
    }

    /// Returns a block as it is in the file.
    static func sealed(_ bytes: ArraySlice<UInt8>, _ id: UInt64, _ block: Int) -> [UInt8] {
        var sealed = Array(bytes)
        sealed.append(number: sealed.withUnsafeBytes { sum($0, id, block) })
        return sealed
    }

    /// Returns the bytes of a block that was read; nil if they are not those that were written.
    static func opened(_ bytes: [UInt8], _ id: UInt64, _ block: Int) -> Bytes? {
        let count = bytes.count - sumSize
        guard count > 0 else { return nil }
        let isSound = bytes.withUnsafeBytes { all in
            let sum = UInt64(littleEndian: all.loadUnaligned(fromByteOffset: count, as: UInt64.self))
            return sum == self.sum(UnsafeRawBufferPointer(rebasing: all[..<count]), id, block)
        }
        return isSound ? Bytes(bytes, in: 0..<count) : nil
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ block: Int) -> UInt64 {
        var checksum = Checksum()
        checksum.update(bytes)
        var position: [UInt8] = []
        position.append(number: id)
        position.append(number: UInt64(block))
        position.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }
}

/// Gathers the bytes of a body that is being stored.
///
/// Rules: up to `inline` bytes are kept here and go into the key's file. With more, full blocks go into a file of their
/// own, so that at most a block and a chunk are in memory. Beyond `limit` it gives up.
struct BodyGathering {
    enum Action: Equatable {
        case none
        /// Write this into the body's file, which is created if needed.
        case write([UInt8], at: Int)
        case giveUp
    }

    let id: UInt64
    private let inline: Int
    private let limit: Int
    private var kept: [UInt8] = []
    private var blocks = 0
    private(set) var count = 0

    init(id: UInt64, inline: Int, limit: Int) {
        (self.id, self.inline, self.limit) = (id, inline, limit)
    }

    /// The whole body, if it goes into the key's file.
    var inlineBytes: Bytes? { count <= inline ? Bytes(kept) : nil }

    mutating func add(_ bytes: Bytes) -> Action {
        guard bytes.count <= limit - count else {
            kept = []
            return .giveUp
        }
        count += bytes.count
        // At once: as a sequence, the bytes would be copied one by one.
        bytes.span.withUnsafeBufferPointer { kept.append(contentsOf: $0) }
        guard count > inline, kept.count >= BodyBlocks.size else { return .none }
        return written(kept.count / BodyBlocks.size)
    }

    /// Ends the body. Returns what is left to write into its file.
    mutating func end() -> Action {
        guard count > inline, !kept.isEmpty else { return .none }
        return written((kept.count + BodyBlocks.size - 1) / BodyBlocks.size)
    }

    private mutating func written(_ number: Int) -> Action {
        var bytes: [UInt8] = []
        let offset = BodyBlocks.offset(of: blocks)
        var start = 0
        for _ in 0..<number {
            let end = min(start + BodyBlocks.size, kept.count)
            bytes += BodyBlocks.sealed(kept[start..<end], id, blocks)
            blocks += 1
            start = end
        }
        kept.removeFirst(start)
        return .write(bytes, at: offset)
    }
}
