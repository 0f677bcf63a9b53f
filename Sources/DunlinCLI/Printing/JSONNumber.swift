/// How far a number of JSON has come (RFC 8259 §6).
enum JSONNumber {
    case minus
    case zero
    case whole
    case point
    case fraction
    case exponentMark
    case exponentSign
    case exponent

    init?(first byte: UInt8) {
        switch byte {
        case UInt8(ascii: "-"): self = .minus
        case UInt8(ascii: "0"): self = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): self = .whole
        default: return nil
        }
    }

    /// Whether it may end here.
    var isWhole: Bool {
        switch self {
        case .zero, .whole, .fraction, .exponent: true
        case .minus, .point, .exponentMark, .exponentSign: false
        }
    }

    /// The number with one more byte; nil if the byte is no part of it.
    func taking(_ byte: UInt8) -> JSONNumber? {
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        let isMark = byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        let isPoint = byte == UInt8(ascii: ".")
        switch self {
        case .minus: return JSONNumber(first: byte).flatMap { $0 == .minus ? nil : $0 }
        case .zero: return isPoint ? .point : isMark ? .exponentMark : nil
        case .whole: return isDigit ? .whole : isPoint ? .point : isMark ? .exponentMark : nil
        case .point: return isDigit ? .fraction : nil
        case .fraction: return isDigit ? .fraction : isMark ? .exponentMark : nil
        case .exponentMark:
            let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            return isDigit ? .exponent : isSign ? .exponentSign : nil
        case .exponentSign, .exponent: return isDigit ? .exponent : nil
        }
    }
}
