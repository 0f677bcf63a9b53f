internal import DunlinCodecs

/// A terminal's answers to questions, read byte by byte.
///
/// It knows the control sequences of ECMA-48 that answers use, and neither descriptors nor time. Anything may come:
/// keys that a person typed meanwhile, unrequested answers, or bytes that somebody sends through a terminal to do harm.
/// Rules: only an exact answer to a question has an effect, a sequence longer than 128 bytes is ignored, and after
/// 4,096 bytes in all nothing more is read. Every terminal answers the last question, so its answer ends the reading.
struct TerminalAnswers: Hashable {
    /// The number that answers of kitty's protocol must have.
    static let kittyNumber = "31"
    static let longestSequence = 128
    static let most = 4096

    /// All questions: about kitty's protocol, colour registers, the size of a character, the background colour, and the
    /// kind of terminal.
    static let questions =
        "\u{1B}_Gi=\(kittyNumber),s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\"
        + "\u{1B}[?1;1;0S\u{1B}[16t\u{1B}]11;?\u{1B}\\\u{1B}[c"

    private enum State: Hashable {
        case text
        case escape
        /// `ESC [` and the bytes since.
        case control([UInt8])
        /// `ESC _` or `ESC ]`, and the bytes since.
        case string(UInt8, [UInt8])
        /// An escape that may end such a string.
        case stringEscape(UInt8, [UInt8])
    }

    private(set) var hasKitty = false
    private(set) var hasSixel = false
    /// The number of colour registers; nil if the terminal does not say.
    private(set) var registers: Int?
    private(set) var cell: ImageSize?
    private(set) var background: ImageBuffer.Pixel?
    /// Whether the terminal has named its kind.
    private(set) var isKnown = false
    /// Whether a person asked to stop.
    private(set) var isInterrupted = false
    private var state = State.text
    private var count = 0

    /// Whether nothing more is read.
    var isOver: Bool { isKnown || isInterrupted || count >= Self.most }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if isOver { return }
            count += 1
            state = next(byte)
        }
    }

    private mutating func next(_ byte: UInt8) -> State {
        // Control-C, which the terminal does not turn into a signal in raw mode.
        if byte == 0x03 { isInterrupted = true }
        switch state {
        case .text: return byte == 0x1B ? .escape : .text
        case .escape: return Self.begun(by: byte)
        case .control(let bytes): return control(bytes, byte)
        case .string(let kind, let bytes): return string(kind, bytes, byte)
        case .stringEscape(let kind, let bytes):
            guard byte == UInt8(ascii: "\\") else { return Self.begun(by: byte) }
            answered(kind, bytes)
            return .text
        }
    }

    private static func begun(by byte: UInt8) -> State {
        switch byte {
        case UInt8(ascii: "["): .control([])
        case UInt8(ascii: "_"), UInt8(ascii: "]"): .string(byte, [])
        case 0x1B: .escape
        default: .text
        }
    }

    private mutating func control(_ bytes: [UInt8], _ byte: UInt8) -> State {
        switch byte {
        case 0x1B: return .escape
        case 0x20...0x3F: return bytes.count < Self.longestSequence ? .control(bytes + [byte]) : .text
        case 0x40...0x7E:
            answered(String(decoding: bytes, as: UTF8.self), byte)
            return .text
        default: return .text
        }
    }

    private mutating func string(_ kind: UInt8, _ bytes: [UInt8], _ byte: UInt8) -> State {
        switch byte {
        case 0x1B: return .stringEscape(kind, bytes)
        // Xterm ends a string in the way the question ended.
        case 0x07:
            if kind == UInt8(ascii: "]") { answered(kind, bytes) }
            return .text
        case 0x20...0x7E: return bytes.count < Self.longestSequence ? .string(kind, bytes + [byte]) : .text
        default: return .text
        }
    }

    // MARK: - Answers

    private mutating func answered(_ parameters: String, _ final: UInt8) {
        switch final {
        case UInt8(ascii: "c"):
            guard parameters.hasPrefix("?"), let numbers = Self.numbers(parameters.dropFirst()) else { return }
            isKnown = true
            // The first number is the kind of terminal, the others are its capabilities.
            hasSixel = numbers.dropFirst().contains(4)
        case UInt8(ascii: "S"):
            guard parameters.hasPrefix("?"), let numbers = Self.numbers(parameters.dropFirst()),
                numbers.count == 3, numbers[0] == 1, numbers[1] == 0, numbers[2] >= 2
            else { return }
            registers = numbers[2]
        case UInt8(ascii: "t"):
            guard let numbers = Self.numbers(parameters[...]), numbers.count == 3, numbers[0] == 6,
                numbers[1...].allSatisfy((1...255).contains)
            else { return }
            cell = ImageSize(width: numbers[2], height: numbers[1])
        default: break
        }
    }

    private mutating func answered(_ kind: UInt8, _ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if kind == UInt8(ascii: "]") {
            if text.hasPrefix("11;") { background = Self.color(text.dropFirst(3)) ?? background }
            return
        }
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == "OK", parts[0].hasPrefix("G") else { return }
        if parts[0].dropFirst().split(separator: ",").contains("i=\(Self.kittyNumber)") { hasKitty = true }
    }

    /// Numbers of at most four digits between semicolons; nil if there is anything else.
    private static func numbers(_ text: Substring) -> [Int]? {
        var numbers: [Int] = []
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(part)
            else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    /// `rgb:ff/80/00`, with one to four digits each.
    private static func color(_ text: Substring) -> ImageBuffer.Pixel? {
        guard text.hasPrefix("rgb:") else { return nil }
        let parts = text.dropFirst(4).split(separator: "/", omittingEmptySubsequences: false)
        let values = parts.compactMap { part -> UInt8? in
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
                let value = Int(part, radix: 16)
            else { return nil }
            let most = 1 << (4 * part.utf8.count) - 1
            return UInt8((value * 255 + most / 2) / most)
        }
        guard parts.count == 3, values.count == 3 else { return nil }
        return ImageBuffer.Pixel(values[0], values[1], values[2])
    }
}
