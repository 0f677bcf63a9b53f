import DunlinCommandLine

/// Writes JSON for people: indented, coloured or both, piece by piece. Only white space between the tokens changes;
/// numbers and strings stay as they were sent.
///
/// Rules:
/// 1. It keeps no more than the open containers, up to `deepest` of them, and the white space since the last token.
/// 2. From the byte on that cannot stand in JSON (RFC 8259), or opens one container too many, everything is written as
///    it came, beginning with that white space: nothing is lost.
/// 3. Several texts may follow each other, as in lines of JSON.
/// 4. A colour ends with its token and with its piece, so that whatever is written next has its own.
/// 5. Indentation ends at `deepestIndent`, so that a few bytes cannot become many.
///
/// It must not know: terminals. Its input is safe already, and ends with a whole character.
struct JSONPrinter {
    static let deepest = 512
    static let deepestIndent = 32
    private static let longestGap = 4096

    private enum State {
        case between
        case value
        case valueOrEnd
        case nameOrEnd
        case name
        case colon
        case commaOrEnd
        case string(isName: Bool, StringState)
        case number(JSONNumber)
        /// What is left of `true`, `false` or `null`.
        case word(Substring.UTF8View)
        case plain
    }

    private enum StringState {
        case inside
        case escape
        case digits(Int)
    }

    private let indents: Bool
    private let hasColour: Bool
    private var state = State.between
    /// The open containers, and whether each is an object.
    private var open: [Bool] = []
    private var gap: [UInt8] = []
    private var style = TextStyle.plain
    private var written: [UInt8] = []
    /// Whether something was written, and what was last.
    private var last: UInt8?

    init(indents: Bool, hasColour: Bool) {
        (self.indents, self.hasColour) = (indents, hasColour)
    }

    mutating func take(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        paint(style)
        for byte in bytes { step(byte) }
        paint(.plain)
        defer { written = [] }
        return written
    }

    /// What is left when the body has ended: white space, and the end of the last line.
    mutating func end() -> [UInt8] {
        if !indents || isPlain { written += gap } else if let last, last != 0x0A { written.append(0x0A) }
        gap = []
        defer { written = [] }
        return written
    }

    private var isPlain: Bool { if case .plain = state { true } else { false } }
}

// MARK: - Tokens

extension JSONPrinter {
    private mutating func step(_ byte: UInt8) {
        switch state {
        case .plain: write(byte)
        case .string(let isName, let inside): stepString(byte, isName, inside)
        case .word(let rest):
            guard rest.first == byte else { return giveUp(byte) }
            write(byte)
            if rest.count == 1 { endValue() } else { state = .word(rest.dropFirst()) }
        case .number(let number):
            if let next = number.taking(byte) {
                write(byte)
                state = .number(next)
            } else if number.isWhole {
                endValue()
                step(byte)
            } else {
                giveUp(byte)
            }
        default: stepBetween(byte)
        }
    }

    private mutating func stepString(_ byte: UInt8, _ isName: Bool, _ inside: StringState) {
        let next: StringState
        switch inside {
        case .inside where byte == UInt8(ascii: "\""):
            write(byte)
            setStyle(.plain)
            if isName { state = .colon } else { endValue() }
            return
        case .inside where byte < 0x20: return giveUp(byte)
        case .inside: next = byte == UInt8(ascii: "\\") ? .escape : .inside
        // A byte that is no UTF-8 has become \x9b, and stays a part of its string.
        case .escape where byte == UInt8(ascii: "x"): next = .digits(2)
        case .escape where byte == UInt8(ascii: "u"): next = .digits(4)
        case .escape:
            guard "\"\\/bfnrt".utf8.contains(byte) else { return giveUp(byte) }
            next = .inside
        case .digits(let left):
            guard Self.isHexDigit(byte) else { return giveUp(byte) }
            next = left == 1 ? .inside : .digits(left - 1)
        }
        write(byte)
        state = .string(isName: isName, next)
    }

    private mutating func stepBetween(_ byte: UInt8) {
        switch (state, byte) {
        case (_, 0x20), (_, 0x09), (_, 0x0A), (_, 0x0D): keep(byte)
        case (.between, _), (.value, _), (.valueOrEnd, UInt8(ascii: "[")): beginValue(byte)
        case (.valueOrEnd, UInt8(ascii: "]")), (.nameOrEnd, UInt8(ascii: "}")): close(isEmpty: true, byte)
        case (.valueOrEnd, _): beginValue(byte)
        case (.nameOrEnd, UInt8(ascii: "\"")), (.name, UInt8(ascii: "\"")):
            beginToken(.name)
            write(byte)
            state = .string(isName: true, .inside)
        case (.colon, UInt8(ascii: ":")):
            writeGap()
            write(byte)
            if indents { write(0x20) }
            state = .value
        case (.commaOrEnd, UInt8(ascii: ",")):
            writeGap()
            write(byte)
            state = open.last == true ? .name : .value
            if indents { newLine() }
        case (.commaOrEnd, UInt8(ascii: "}")) where open.last == true,
            (.commaOrEnd, UInt8(ascii: "]")) where open.last == false:
            close(isEmpty: false, byte)
        default: giveUp(byte)
        }
    }

    private mutating func beginValue(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < Self.deepest else { return giveUp(byte) }
            beginToken(.plain)
            write(byte)
            open.append(byte == UInt8(ascii: "{"))
            state = open.last == true ? .nameOrEnd : .valueOrEnd
        case UInt8(ascii: "\""):
            beginToken(.string)
            write(byte)
            state = .string(isName: false, .inside)
        case UInt8(ascii: "t"): beginWord("true", byte)
        case UInt8(ascii: "f"): beginWord("false", byte)
        case UInt8(ascii: "n"): beginWord("null", byte)
        default:
            guard let number = JSONNumber(first: byte) else { return giveUp(byte) }
            beginToken(.number)
            write(byte)
            state = .number(number)
        }
    }

    private mutating func beginWord(_ word: String, _ byte: UInt8) {
        beginToken(.word)
        write(byte)
        state = .word(word.utf8.dropFirst())
    }

    private mutating func close(isEmpty: Bool, _ byte: UInt8) {
        open.removeLast()
        writeGap()
        if indents, !isEmpty { newLine() }
        write(byte)
        endValue()
    }

    private mutating func endValue() {
        setStyle(.plain)
        state = open.isEmpty ? .between : .commaOrEnd
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }
}

// MARK: - Writing

extension JSONPrinter {
    /// What comes before a token: the white space that was sent, or a line of its own.
    private mutating func beginToken(_ style: TextStyle) {
        writeGap()
        if indents {
            switch state {
            case .between where last != nil && last != 0x0A: newLine()
            case .valueOrEnd, .nameOrEnd: newLine()
            default: break
            }
        }
        setStyle(style)
    }

    private mutating func giveUp(_ byte: UInt8) {
        setStyle(.plain)
        written += gap
        if let end = gap.last { last = end }
        gap = []
        state = .plain
        write(byte)
    }

    private mutating func keep(_ byte: UInt8) {
        if !indents { return write(byte) }
        if gap.count < Self.longestGap { gap.append(byte) }
    }

    private mutating func writeGap() { gap = [] }

    private mutating func newLine() {
        write(0x0A)
        written += [UInt8](repeating: 0x20, count: 2 * min(open.count, Self.deepestIndent))
    }

    private mutating func write(_ byte: UInt8) {
        written.append(byte)
        last = byte
    }

    private mutating func setStyle(_ style: TextStyle) {
        if self.style != .plain { paint(.plain) }
        self.style = style
        if style != .plain { paint(style) }
    }

    /// Writes the colour; that of the plain style ends another.
    private mutating func paint(_ style: TextStyle) {
        if hasColour, self.style != .plain { written += style.control.utf8 }
    }
}
