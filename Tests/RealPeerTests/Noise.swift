import Glibc

/// The same noise again and again; its length is prime, so that a lost or repeated buffer shows.
enum Noise {
    static func bytes(_ count: Int) -> [UInt8] {
        var whole: [UInt8] = []
        whole.reserveCapacity(count)
        while whole.count < count { whole += block.prefix(count - whole.count) }
        return whole
    }

    /// Without the time that a debug build takes to compare bytes one by one.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && (left.isEmpty || memcmp(left, right, left.count) == 0)
    }

    private static let block: [UInt8] = {
        var state: UInt32 = 2_463_534_242
        return (0..<65_537).map { _ in
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            return UInt8(truncatingIfNeeded: state)
        }
    }()
}
