/// The steps by which readers of markup go through their text, from left to right.
@usableFromInline package protocol MarkupReader {
    associatedtype Problem: Error
    var bytes: [UInt8] { get }
    var position: Int { get set }
    /// The error for text that ends here or is not what it must be at this position.
    func unexpected() -> Problem
}

extension MarkupReader {
    @inlinable package static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    @inlinable package func isAt(_ text: StaticString) -> Bool {
        guard bytes.count - position >= text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount where bytes[position + offset] != text.utf8Start[offset] {
            return false
        }
        return true
    }

    @inlinable package mutating func skip(_ text: StaticString) -> Bool {
        guard isAt(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    @inlinable package mutating func expect(_ text: StaticString) throws(Problem) {
        guard skip(text) else { throw unexpected() }
    }

    @discardableResult
    @inlinable package mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        return position > start
    }

    /// Returns the text before `end`, and moves past `end`.
    @inlinable package mutating func text(before end: StaticString) throws(Problem) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count {
            if isAt(end) {
                defer { position += end.utf8CodeUnitCount }
                return bytes[start..<position]
            }
            position += 1
        }
        throw unexpected()
    }

    /// Returns the text between two quotes of the same kind.
    @inlinable package mutating func quoted() throws(Problem) -> ArraySlice<UInt8> {
        if skip("\"") { return try text(before: "\"") }
        try expect("'")
        return try text(before: "'")
    }

    /// The number of a numeric character reference, from its digits; nil if there are none or the number is too large.
    package static func number(_ digits: some StringProtocol, radix: Int) -> UInt32? {
        digits.utf8.allSatisfy { Hex.value($0) != nil } ? UInt32(digits, radix: radix) : nil
    }
}
