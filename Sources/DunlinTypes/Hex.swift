/// Hexadecimal digits. Functions for single digits are inlined into their callers: chunks and queries have many.
@usableFromInline package enum Hex {
    /// The value of a digit, in either case; nil for other bytes.
    @inlinable @inline(__always) package static func value(_ digit: UInt8) -> UInt8? {
        if digit &- 0x30 < 10 { return digit &- 0x30 }
        let letter = (digit | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    /// The digit for a value below 16.
    @inlinable @inline(__always) package static func digit(_ value: UInt8, uppercase: Bool = false) -> UInt8 {
        value < 10 ? value &+ 0x30 : value &+ (uppercase ? 0x37 : 0x57)
    }

    /// A number in hexadecimal, padded with zeros to `count` digits.
    package static func text(_ number: some UnsignedInteger, count: Int, uppercase: Bool = false) -> String {
        let digits = String(number, radix: 16, uppercase: uppercase)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }

    /// 32 random digits, which nobody can guess.
    package static func random() -> String { text(UInt128.random(in: 0 ... .max), count: 32) }
}

extension Unicode.Scalar {
    /// The scalar's code point, such as `U+0020`.
    package var codePoint: String { "U+" + Hex.text(value, count: 4, uppercase: true) }
}

extension [UInt8] {
    /// Appends a byte percent-encoded (RFC 3986 §2.1).
    @inlinable package mutating func appendTriplet(of byte: UInt8) {
        append(UInt8(ascii: "%"))
        append(Hex.digit(byte >> 4, uppercase: true))
        append(Hex.digit(byte & 15, uppercase: true))
    }
}
