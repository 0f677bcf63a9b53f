/// Writes JSON (RFC 8259) piece by piece. It handles text and layout; its caller decides what is written where.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let isIndented: Bool
    private let escapesSlashes: Bool
    private var depth: Int
    /// Whether nothing precedes in the open array or object.
    private var isFirst = true

    /// Creates a writer for a whole text, or for a part `depth` levels deep.
    init(_ format: DynamicValue.JSONFormat, depth: Int = 0) {
        self.depth = depth
        isIndented = format.isIndented
        escapesSlashes = format.escapesSlashes
    }

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    mutating func openArray() { open(UInt8(ascii: "[")) }
    mutating func closeArray() { close(UInt8(ascii: "]")) }
    mutating func openObject() { open(UInt8(ascii: "{")) }
    mutating func closeObject() { close(UInt8(ascii: "}")) }

    /// Prepares for an element or a member's key.
    mutating func beginNext() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        if isIndented { breakLine() }
    }

    mutating func key(_ name: String) {
        text(name)
        Self.appendColon(to: &bytes, isIndented: isIndented)
    }

    /// Writes text that is JSON already.
    mutating func literal(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func literal(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func literal(_ text: Span<UInt8>) {
        text.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    mutating func text(_ text: String) {
        JSONWriter.append(text, to: &bytes, escapesSlashes: escapesSlashes)
    }

    private mutating func open(_ bracket: UInt8) {
        bytes.append(bracket)
        depth += 1
        isFirst = true
    }

    private mutating func close(_ bracket: UInt8) {
        depth -= 1
        if isIndented, !isFirst { breakLine() }
        bytes.append(bracket)
        isFirst = false
    }

    private mutating func breakLine() {
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }
}

// MARK: - Text and numbers

extension JSONWriter {
    static func appendColon(to bytes: inout [UInt8], isIndented: Bool) {
        bytes.append(UInt8(ascii: ":"))
        if isIndented { bytes.append(UInt8(ascii: " ")) }
    }

    /// Appends a text in quotes. Runs without escapes are copied unchanged.
    static func append(_ text: String, to bytes: inout [UInt8], escapesSlashes: Bool) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            var start = 0
            var position = 0
            while position < text.count {
                if mustEscape(text[position], escapesSlashes) {
                    bytes.append(contentsOf: text[start..<position])
                    escape(text[position], &bytes)
                    start = position + 1
                }
                position += 1
            }
            bytes.append(contentsOf: start == 0 ? text : UnsafeBufferPointer(rebasing: text[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        guard var magnitude = UInt64(exactly: number.magnitude) else {
            return bytes.append(contentsOf: String(number).utf8)
        }
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var first = 20
        repeat {
            first -= 1
            digits[first] = UInt8(truncatingIfNeeded: magnitude % 10) + 0x30
            magnitude /= 10
        } while magnitude > 0
        digits.span.extracting(first..<20).withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    /// Appends the shortest digits that read as the same value; a whole number has no decimal point.
    static func append(_ number: some BinaryFloatingPoint & CustomStringConvertible, to bytes: inout [UInt8]) {
        var text = number.description
        text.withUTF8 { text in
            let isWhole = text.count > 2 && text[text.count - 1] == 0x30 && text[text.count - 2] == UInt8(ascii: ".")
            bytes.append(contentsOf: isWhole ? text[..<(text.count - 2)] : text[...])
        }
    }

    private static func mustEscape(_ byte: UInt8, _ escapesSlashes: Bool) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            || byte == UInt8(ascii: "/") && escapesSlashes
    }

    private static func escape(_ byte: UInt8, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            for digit in [byte >> 4, byte & 15] { bytes.append(digit + (digit < 10 ? 0x30 : 0x57)) }
        default: bytes.append(byte)
        }
    }
}
