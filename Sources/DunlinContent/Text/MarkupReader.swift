/// The steps that readers of markup take through their text, from left to right.
@usableFromInline package protocol MarkupReader {
    associatedtype Problem: Error
    var bytes: [UInt8] { get }
    var position: Int { get set }
    /// What is thrown when the text is not, at this position, what it has to be, or has ended.
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

    /// What lies before `end`, which is passed.
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

    /// What stands between two quotes of one kind.
    @inlinable package mutating func quoted() throws(Problem) -> ArraySlice<UInt8> {
        if skip("\"") { return try text(before: "\"") }
        try expect("'")
        return try text(before: "'")
    }

    /// The number that a reference to a character gives, of its digits alone; nil for none, or too large a one.
    package static func number(_ digits: some StringProtocol, radix: Int) -> UInt32? {
        digits.utf8.allSatisfy { Hex.value($0) != nil } ? UInt32(digits, radix: radix) : nil
    }
}
