/// The characters of tokens (`tchar`, RFC 9110 §5.6.2): letters, digits and !#$%&'*+-.^_`|~
///
/// Two 64-bit masks instead of a table: no lazy initialisation, no reference count, no memory touched. Inlined into
/// callers, which look at each byte of a head.
@usableFromInline package enum TokenCharacters {
    @inlinable @inline(__always) package static func contains(_ byte: UInt8) -> Bool {
        let mask: UInt64 = byte & 0x40 == 0 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 0x80 && (mask &>> UInt64(byte & 0x3F)) & 1 != 0
    }
}
