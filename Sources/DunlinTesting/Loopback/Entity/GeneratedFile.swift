internal import DunlinReactor
internal import Glibc

extension LoopbackServer.GeneratedBody {
    /// Returns the first offset at which the file at `path` differs from the body's bytes in `range`: a byte that is
    /// different, missing or extra. Nil if there is no difference. Throws the failed system call's error.
    public static func difference(ofFileAt path: String, from range: Range<Int>) throws -> Int? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Errno.last }
        defer { _ = close(number) }
        var room = [UInt8](repeating: 0, count: 1 << 18)
        var offset = 0
        while true {
            let count = try read(number, at: offset, into: &room)
            let expected = min(count, range.count - offset)
            if let index = difference(room, expected, from: range.lowerBound + offset) { return offset + index }
            offset += expected
            if count > expected { return offset }
            if count == 0 { return offset == range.count ? nil : offset }
        }
    }

    private static func read(_ number: Int32, at offset: Int, into room: inout [UInt8]) throws(Errno) -> Int {
        while true {
            let count = pread(number, &room, room.count, offset)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .last }
        }
    }

    private static func difference(_ bytes: [UInt8], _ count: Int, from start: Int) -> Int? {
        var index = 0
        var found: Int?
        forEachBlock(start..<(start + count)) { block in
            defer { index += block.count }
            guard found == nil else { return }
            bytes.withUnsafeBytes { bytes in
                let own = UnsafeRawBufferPointer(rebasing: bytes[index..<(index + block.count)])
                // In blocks, because tests are debug builds, where a loop over bytes takes seconds.
                guard let left = own.baseAddress, let right = block.baseAddress,
                    memcmp(left, right, block.count) != 0
                else { return }
                found = own.indices.first { own[$0] != block[$0] }.map { index + $0 }
            }
        }
        return found
    }
}
