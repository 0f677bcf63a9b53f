/// A fast 64-bit checksum that notices damage: XXH64 with seed 0. It protects from accidents, not from people.
///
/// Four lanes are fed 32 bytes at a time; what is left over waits in `rest`. A plain value: a copy is the checksum so
/// far, and `value` may be asked for at any time.
public struct Checksum: Sendable {
    private var lanes: Lanes = (
        prime1 &+ prime2, prime2, 0, 0 &- prime1
    )
    /// The last `count % 32` bytes, as they lie in memory.
    private var rest: Lanes = (0, 0, 0, 0)
    /// How many bytes there were.
    public private(set) var count = 0

    private typealias Lanes = (UInt64, UInt64, UInt64, UInt64)
    private static let stripe = 32

    public init() {}

    /// Of content that is there as a whole.
    public static func value(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var checksum = Checksum()
        checksum.update(bytes)
        return checksum.value
    }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let waiting = count % Self.stripe
        count += bytes.count
        var start = 0
        if waiting > 0 {
            start = min(Self.stripe - waiting, bytes.count)
            keep(UnsafeRawBufferPointer(rebasing: bytes[..<start]), at: waiting)
            if waiting + start < Self.stripe { return }
            withUnsafeBytes(of: rest) { Self.mix($0, into: &lanes) }
        }
        let whole = (bytes.count - start) / Self.stripe * Self.stripe
        Self.mix(UnsafeRawBufferPointer(rebasing: bytes[start..<start + whole]), into: &lanes)
        keep(UnsafeRawBufferPointer(rebasing: bytes[(start + whole)...]), at: 0)
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        withUnsafeMutableBytes(of: &rest) {
            UnsafeMutableRawBufferPointer(rebasing: $0[offset...]).copyMemory(from: bytes)
        }
    }

    /// The checksum of all there was so far.
    public var value: UInt64 {
        var sum = count < Self.stripe ? Self.prime5 : merged
        sum &+= UInt64(count)
        withUnsafeBytes(of: rest) {
            Self.finish(UnsafeRawBufferPointer(rebasing: $0[..<(count % Self.stripe)]), into: &sum)
        }
        sum = (sum ^ sum &>> 33) &* Self.prime2
        sum = (sum ^ sum &>> 29) &* Self.prime3
        return sum ^ sum &>> 32
    }
}

// MARK: - Rounds

extension Checksum {
    // Computed, so that they are operands and not loaded from memory that must be initialised first.
    private static var prime1: UInt64 { 0x9E37_79B1_85EB_CA87 }
    private static var prime2: UInt64 { 0xC2B2_AE3D_27D4_EB4F }
    private static var prime3: UInt64 { 0x1656_67B1_9E37_79F9 }
    private static var prime4: UInt64 { 0x85EB_CA77_C2B2_AE63 }
    private static var prime5: UInt64 { 0x27D4_EB2F_1656_67C5 }

    /// Whole stripes.
    private static func mix(_ bytes: UnsafeRawBufferPointer, into lanes: inout Lanes) {
        var (a, b, c, d) = lanes
        var offset = 0
        while offset < bytes.count {
            a = round(a, word(bytes, offset))
            b = round(b, word(bytes, offset &+ 8))
            c = round(c, word(bytes, offset &+ 16))
            d = round(d, word(bytes, offset &+ 24))
            offset &+= stripe
        }
        lanes = (a, b, c, d)
    }

    private var merged: UInt64 {
        let (a, b, c, d) = lanes
        let sum = Self.rotated(a, 1) &+ Self.rotated(b, 7) &+ Self.rotated(c, 12) &+ Self.rotated(d, 18)
        return [a, b, c, d].reduce(sum) { sum, lane in
            (sum ^ Self.round(0, lane)) &* Self.prime1 &+ Self.prime4
        }
    }

    /// What makes no stripe.
    private static func finish(_ bytes: UnsafeRawBufferPointer, into sum: inout UInt64) {
        var offset = 0
        while offset + 8 <= bytes.count {
            sum = rotated(sum ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
            sum = rotated(sum ^ half &* prime1, 23) &* prime2 &+ prime3
            offset += 4
        }
        for byte in bytes[offset...] {
            sum = rotated(sum ^ UInt64(byte) &* prime5, 11) &* prime1
        }
    }

    @inline(__always) private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
        rotated(lane &+ word &* prime2, 31) &* prime1
    }

    @inline(__always) private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
        word &<< count | word &>> (64 &- count)
    }

    @inline(__always) private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
