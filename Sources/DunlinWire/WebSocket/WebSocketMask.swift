/// The mask of a client's frame: each byte of the payload is combined with one of four in turn (RFC 6455 §5.3).
package struct WebSocketMask: Sendable, Hashable {
    /// The four bytes, the first one highest.
    package let key: UInt32

    package init(key: UInt32) {
        self.key = key
    }

    /// Copies `source` masked, 32 bytes at a time. Masking twice gives what there was before.
    ///
    /// `offset` is the number of the payload's bytes before these. `target` has at least as many bytes; it may be the
    /// same memory, but must not overlap it otherwise.
    package func copy(
        _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer, offset: Int = 0
    ) {
        let turn = UInt32(8 &* (offset & 3))
        let four = key &<< turn | key &>> ((32 &- turn) & 31)
        let eight = (UInt64(four) << 32 | UInt64(four)).bigEndian
        let wide = SIMD4<UInt64>(repeating: eight)
        var position = 0
        while source.count &- position >= 32 {
            let words = source.loadUnaligned(fromByteOffset: position, as: SIMD4<UInt64>.self) ^ wide
            target.storeBytes(of: words, toByteOffset: position, as: SIMD4<UInt64>.self)
            position &+= 32
        }
        while source.count &- position >= 8 {
            let word = source.loadUnaligned(fromByteOffset: position, as: UInt64.self) ^ eight
            target.storeBytes(of: word, toByteOffset: position, as: UInt64.self)
            position &+= 8
        }
        while position < source.count {
            let shift = UInt32(24 &- 8 &* (position & 3))
            target[position] = source[position] ^ UInt8(truncatingIfNeeded: four &>> shift)
            position &+= 1
        }
    }
}
