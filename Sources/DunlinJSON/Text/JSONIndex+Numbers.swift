internal import FoundationEssentials

/// Numbers, read in place: exactly as written, or as the nearest value of a floating-point type.
extension JSONIndex {
    /// The integer; nil if the number is not whole or does not fit. `1.0` and `1e2` are whole.
    func integer<Integer: FixedWidthInteger>(_ entry: Entry) -> Integer? {
        guard entry.kind == .integer else { return wholeDigits(entry).flatMap { Self.integer($0) } }
        var position = Int(entry.offset)
        let end = position + Int(entry.extent)
        let bytes = text.span
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        // Nineteen digits always fit in 64 bits.
        guard end - position <= 19 else { return Self.integer(literal(entry)) }
        var magnitude: UInt64 = 0
        while position < end {
            magnitude = magnitude &* 10 &+ UInt64(bytes[position] &- 0x30)
            position += 1
        }
        if !isNegative { return Integer(exactly: magnitude) }
        guard let signed = Int64(exactly: magnitude) else { return Self.integer(literal(entry)) }
        return Integer(exactly: -signed)
    }

    /// The integer that is written so. By way of the largest types: each type's own reader would be a copy of theirs.
    private static func integer<Integer: FixedWidthInteger>(_ text: String) -> Integer? {
        if text.utf8.first == UInt8(ascii: "-") { return Int128(text).flatMap { Integer(exactly: $0) } }
        return UInt128(text).flatMap { Integer(exactly: $0) }
    }

    /// The nearest Double; nil if the number is too large, or so small that it would become zero.
    func double(_ entry: Entry) -> Double? {
        if let decimal = shortDecimal(entry), let value = decimal.double { return value }
        guard let value = Double(literal(entry)), value.isFinite else { return nil }
        return value.isZero && !isZero(entry) ? nil : value
    }

    /// The nearest Float, rounded once and not by way of a Double.
    func float(_ entry: Entry) -> Float? {
        if let decimal = shortDecimal(entry), let value = decimal.float { return value }
        guard let value = Float(literal(entry)), value.isFinite else { return nil }
        return value.isZero && !isZero(entry) ? nil : value
    }

    /// Whether all digits before the exponent are 0.
    private func isZero(_ entry: Entry) -> Bool {
        text[range(of: entry)].prefix { $0 | 0x20 != UInt8(ascii: "e") }.allSatisfy { !(0x31...0x39).contains($0) }
    }

    /// The decimal, of which 38 digits are kept; nil if it is too large or too small.
    func decimal(_ entry: Entry) -> Decimal? {
        if let decimal = shortDecimal(entry), abs(decimal.exponent) <= 100 {
            return Decimal(
                sign: decimal.isNegative ? .minus : .plus, exponent: decimal.exponent,
                significand: Decimal(decimal.digits))
        }
        return Decimal(string: literal(entry))
    }
}

// MARK: - Decimals

extension JSONIndex {
    /// A number whose digits fit in 64 bits: the digits, and the power of ten that they are multiplied by.
    struct ShortDecimal {
        var isNegative = false
        var digits: UInt64 = 0
        var exponent = 0

        /// The Double; nil unless digits and power are both exact, so that there is only one rounding (Clinger 1990).
        var double: Double? {
            guard digits <= 1 << 53, abs(exponent) <= 22 else { return nil }
            let power = Self.powers[abs(exponent)]
            let value = exponent < 0 ? Double(digits) / power : Double(digits) * power
            return isNegative ? -value : value
        }

        var float: Float? {
            guard digits <= 1 << 24, abs(exponent) <= 10 else { return nil }
            let power = Float(Self.powers[abs(exponent)])
            let value = exponent < 0 ? Float(digits) / power : Float(digits) * power
            return isNegative ? -value : value
        }

        private static let powers: InlineArray<23, Double> = [
            1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
            1e20, 1e21, 1e22,
        ]
    }

    /// The number in this form; nil if it has more than 19 digits, or an exponent of more than three.
    private func shortDecimal(_ entry: Entry) -> ShortDecimal? {
        guard entry.extent <= 24 else { return nil }
        let bytes = text.span.extracting(range(of: entry))
        var decimal = ShortDecimal()
        var position = 0
        var digits = 0
        var isFraction = false
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte &- 0x30 < 10 {
                decimal.digits = decimal.digits &* 10 &+ UInt64(byte &- 0x30)
                digits += 1
                if isFraction { decimal.exponent -= 1 }
            } else if byte == UInt8(ascii: ".") {
                isFraction = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                guard let exponent = Self.exponent(bytes.extracting(position...)) else { return nil }
                decimal.exponent += exponent
                position = bytes.count
            } else {
                decimal.isNegative = true
            }
        }
        return digits <= 19 ? decimal : nil
    }

    /// The exponent; nil if it has more than four digits, which no supported type can hold.
    private static func exponent(_ bytes: Span<UInt8>) -> Int? {
        let isSigned = bytes[0] == UInt8(ascii: "-") || bytes[0] == UInt8(ascii: "+")
        let digits = bytes.extracting((isSigned ? 1 : 0)...)
        var exponent = 0
        for index in digits.indices {
            exponent = exponent * 10 + Int(digits[index] &- 0x30)
            if exponent > 9999 { return nil }
        }
        return bytes[0] == UInt8(ascii: "-") ? -exponent : exponent
    }

    /// The digits of a whole number written with a point or an exponent, with its sign; nil if the number is not whole
    /// or has more digits than the longest integer.
    private func wholeDigits(_ entry: Entry) -> String? {
        let bytes = text.span.extracting(range(of: entry))
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        scan: for position in bytes.indices {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "-"): continue
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                let rest = bytes.extracting((position + 1)...)
                guard let written = Self.exponent(rest) else { return digits.isEmpty ? "0" : nil }
                exponent += written
                break scan
            default:
                if isFraction { exponent -= 1 }
                // Leading zeros do not count.
                if byte != 0x30 || !digits.isEmpty { digits.append(byte) }
            }
        }
        while digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { return "0" }
        guard exponent >= 0, digits.count + exponent <= 39 else { return nil }
        digits.append(contentsOf: repeatElement(0x30, count: exponent))
        return (bytes[0] == UInt8(ascii: "-") ? "-" : "") + String(decoding: digits, as: UTF8.self)
    }
}
