/// A fast 64-bit checksum that detects damage: XXH3 with seed 0. It protects from accidents, not from attackers.
///
/// Eight lanes are fed 64 bytes at a time, by multiplications that every processor does on several lanes at once; the
/// compiler has them do so. After sixteen such steps, the lanes are scrambled. The last 64 bytes are mixed differently,
/// so bytes that may be the last are held back; short content is summed differently as a whole.
///
/// It is a plain value: a copy is the checksum so far, and `value` can be read at any time. Numbers are read
/// little-endian.
public struct Checksum: Sendable {
    typealias Lanes = SIMD8<UInt64>

    private var lanes = Lanes(
        0xC2B2_AE3D, prime1, prime2, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63, 0x85EB_CA77, 0x27D4_EB2F_1656_67C5,
        0x9E37_79B1)
    /// The latest bytes: the one at `offset` of the content is at `offset % room`.
    private var latest = InlineArray<256, UInt8>(repeating: 0)
    /// The number of bytes so far.
    public private(set) var count = 0

    private static var room: Int { 256 }
    private static var stripe: Int { 64 }

    public init() {}

    /// Returns the checksum of whole content.
    public static func value(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var checksum = Checksum()
        checksum.update(bytes)
        return checksum.value
    }

    /// The number of bytes in the lanes: all but the last, which are 1 to `room`.
    private var mixed: Int { max(0, count - 1) / Self.room * Self.room }

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let start = mixed + Self.room - count
        if bytes.count <= start { return keep(bytes) }
        var rest = bytes
        if start < Self.room {
            keep(UnsafeRawBufferPointer(rebasing: bytes[..<start]))
            let offset = mixed
            withUnsafeBytes(of: latest) { Self.mix($0, at: offset, into: &lanes) }
            rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        }
        let whole = (rest.count - 1) / Self.room * Self.room
        Self.mix(UnsafeRawBufferPointer(rebasing: rest[..<whole]), at: count, into: &lanes)
        // The last stripe may begin in bytes that are mixed already.
        let kept = min(rest.count, Self.room)
        count += rest.count - kept
        keep(UnsafeRawBufferPointer(rebasing: rest.suffix(kept)))
    }

    /// Keeps bytes, at most as many as there is room for.
    private mutating func keep(_ bytes: UnsafeRawBufferPointer) {
        let start = count % Self.room
        let fitting = min(bytes.count, Self.room - start)
        withUnsafeMutableBytes(of: &latest) { latest in
            UnsafeMutableRawBufferPointer(rebasing: latest[start...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[..<fitting]))
            latest.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[fitting...]))
        }
        count += bytes.count
    }

    /// The checksum of all bytes so far.
    public var value: UInt64 {
        if count <= Self.longestShort {
            return withUnsafeBytes(of: latest) { Self.short(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        var lanes = lanes
        let waiting = (count - 1 - mixed) / Self.stripe * Self.stripe
        withUnsafeBytes(of: latest) { latest in
            Self.mix(UnsafeRawBufferPointer(rebasing: latest[..<waiting]), at: mixed, into: &lanes)
        }
        var end = InlineArray<64, UInt8>(repeating: 0)
        for index in 0..<Self.stripe { end[index] = latest[(count - Self.stripe + index) % Self.room] }
        Self.secret.withUnsafeBytes { secret in
            let key = UnsafeRawBufferPointer(rebasing: secret[121...])
            withUnsafeBytes(of: end) { Self.mix($0, key, into: &lanes) }
        }
        return Self.merged(lanes, count)
    }
}

// MARK: - Long content

extension Checksum {
    /// Mixes whole stripes, the first of which is at `offset` of the content. The lanes are scrambled after every
    /// sixteen.
    private static func mix(_ bytes: UnsafeRawBufferPointer, at offset: Int, into lanes: inout Lanes) {
        secret.withUnsafeBytes { secret in
            var (start, step) = (0, offset / stripe % 16)
            while start < bytes.count {
                let end = min(bytes.count, start + (16 - step) * stripe)
                let stripes = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                mix(stripes, UnsafeRawBufferPointer(rebasing: secret[(8 * step)...]), into: &lanes)
                step += (end - start) / stripe
                start = end
                guard step == 16 else { continue }
                lanes = (lanes ^ lanes &>> 47 ^ words(secret, 128)) &* 0x9E37_79B1
                step = 0
            }
        }
    }

    /// Mixes a stripe. A lane takes the product of its keyed word's halves, and its neighbour's word unchanged: half a
    /// word would be lost if it were multiplied by zero. The neighbours' sums are swapped only at the end.
    private static func mix(
        _ stripes: UnsafeRawBufferPointer, _ secret: UnsafeRawBufferPointer, into lanes: inout Lanes
    ) {
        let (low, half) = (Lanes(repeating: 0xFFFF_FFFF), Lanes(repeating: 32))
        var (products, sums) = (lanes, Lanes())
        var (offset, key) = (0, 0)
        while offset < stripes.count {
            let words = words(stripes, offset)
            let keyed = words ^ Self.words(secret, key)
            sums &+= words
            products &+= (keyed & low) &* (keyed &>> half)
            offset &+= stripe
            key &+= 8
        }
        var swapped = sums
        swapped.evenHalf = sums.oddHalf
        swapped.oddHalf = sums.evenHalf
        lanes = products &+ swapped
    }

    private static func merged(_ lanes: Lanes, _ count: Int) -> UInt64 {
        secret.withUnsafeBytes { secret in
            let sum = stride(from: 0, to: 8, by: 2).reduce(UInt64(count) &* prime1) { sum, lane in
                sum
                    &+ folded(
                        lanes[lane] ^ word(secret, 11 + 8 * lane), lanes[lane + 1] ^ word(secret, 19 + 8 * lane))
            }
            return avalanche(sum)
        }
    }

    @inline(__always) private static func words(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Lanes {
        bytes.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
    }
}
