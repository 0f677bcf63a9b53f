import Dunlin

/// Makes a body safe for a terminal, piece by piece: what would control it is shown as text instead.
///
/// It knows nothing of what the text means. Rules:
/// 1. Visible characters, line feeds and tabs stay as they are. A carriage return before a line feed is left out.
/// 2. A scalar that `VisibleText` knows to have an effect is shown as JSON would write it: `\u001b`, `\u202e`, and two
///    such for one beyond U+FFFF. Within a string of JSON that has the same meaning.
/// 3. A byte that is no UTF-8 is shown as `\x9b`.
/// 4. A byte order mark at the beginning is left out.
/// 5. A character may be split anywhere: at most three bytes are kept between two pieces.
struct SafeText {
    /// An unfinished character, or a carriage return.
    private var pending: [UInt8] = []
    private var isAtStart = true

    mutating func take(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var safe: [UInt8] = []
        safe.reserveCapacity(bytes.underestimatedCount)
        for byte in bytes { take(byte, &safe) }
        return safe
    }

    /// What is left when the body has ended.
    mutating func end() -> [UInt8] {
        var safe: [UInt8] = []
        giveUp(&safe)
        return safe
    }

    private mutating func take(_ byte: UInt8, _ safe: inout [UInt8]) {
        if pending.isEmpty {
            begin(byte, &safe)
        } else if pending == [0x0D] {
            if byte == 0x0A { pending = [] } else { giveUp(&safe) }
            begin(byte, &safe)
        } else if Self.continues(pending, byte) {
            pending.append(byte)
            guard pending.count == Self.length(pending[0]) else { return }
            let scalars = String(decoding: pending, as: UTF8.self).unicodeScalars
            show(scalars[scalars.startIndex], &safe)
            pending = []
        } else {
            giveUp(&safe)
            begin(byte, &safe)
        }
    }

    /// The first byte of a character.
    private mutating func begin(_ byte: UInt8, _ safe: inout [UInt8]) {
        switch byte {
        case 0x0D: pending = [byte]
        case 0..<0x80: show(Unicode.Scalar(byte), &safe)
        case 0xC2...0xF4: pending = [byte]
        default:
            isAtStart = false
            Self.showByte(byte, &safe)
        }
    }

    private mutating func show(_ scalar: Unicode.Scalar, _ safe: inout [UInt8]) {
        defer { isAtStart = false }
        if isAtStart, scalar == "\u{FEFF}" { return }
        guard VisibleText.hasEffect(scalar) else {
            safe += String(scalar).utf8
            return
        }
        for unit in String(scalar).utf16 {
            safe += "\\u".utf8
            for shift in [12, 8, 4, 0] { safe.append(Self.digit(UInt8(unit >> UInt16(shift) & 0xF))) }
        }
    }

    /// Shows the bytes that have not become a character.
    private mutating func giveUp(_ safe: inout [UInt8]) {
        if pending == [0x0D] { show("\r", &safe) } else { for byte in pending { Self.showByte(byte, &safe) } }
        isAtStart = isAtStart && pending.isEmpty
        pending = []
    }

    private static func showByte(_ byte: UInt8, _ safe: inout [UInt8]) {
        safe += "\\x".utf8
        safe += [digit(byte >> 4), digit(byte & 0xF)]
    }

    private static func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? 0x30 : 0x57) }

    private static func length(_ first: UInt8) -> Int { first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4 }

    /// Whether the byte can stand behind those: no long forms, no halves of a pair, nothing beyond U+10FFFF.
    private static func continues(_ bytes: [UInt8], _ byte: UInt8) -> Bool {
        guard bytes.count == 1 else { return (0x80...0xBF).contains(byte) }
        switch bytes[0] {
        case 0xE0: return (0xA0...0xBF).contains(byte)
        case 0xED: return (0x80...0x9F).contains(byte)
        case 0xF0: return (0x90...0xBF).contains(byte)
        case 0xF4: return (0x80...0x8F).contains(byte)
        default: return (0x80...0xBF).contains(byte)
        }
    }
}
