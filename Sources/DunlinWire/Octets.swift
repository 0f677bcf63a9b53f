internal import DunlinTypes

/// The character classes of RFC 9110 §5.6, and scans that use them.
enum Octets {
    @inline(__always) static var tab: UInt8 { 0x09 }
    @inline(__always) static var lf: UInt8 { 0x0A }
    @inline(__always) static var cr: UInt8 { 0x0D }
    @inline(__always) static var space: UInt8 { 0x20 }
    @inline(__always) static var comma: UInt8 { 0x2C }
    @inline(__always) static var colon: UInt8 { 0x3A }

    @inline(__always) static func isBlank(_ byte: UInt8) -> Bool {
        byte == space || byte == tab
    }

    @inline(__always) static func isDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10
    }

    @inline(__always) static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    /// Whether the byte is a control character other than tab, which no field value may contain.
    @inline(__always) static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != tab || byte == 0x7F
    }

    /// The position of the first control character at or after `start`; `end` if there is none. Scans eight bytes at a
    /// time.
    @inline(__always)
    static func endOfText(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while end &- position >= 8 {
            let found = controls(in: word(bytes, at: position))
            if found == 0 {
                position &+= 8
                continue
            }
            // The lowest mark is exact; those above it may come from borrows, and are checked later.
            position &+= found.trailingZeroBitCount &>> 3
            if bytes[position] != tab { return position }
            position &+= 1
        }
        while position < end, !isControl(bytes[position]) { position &+= 1 }
        return position
    }

    /// The position of the first character at or after `start` that a token must not contain; `end` if there is none.
    @inline(__always)
    static func endOfToken(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Int {
        var position = start
        while end &- position >= 8 {
            let found = othersThanLettersAndHyphens(in: word(bytes, at: position))
            if found == 0 {
                position &+= 8
                continue
            }
            position &+= found.trailingZeroBitCount &>> 3
            if !TokenCharacters.contains(bytes[position]) { return position }
            position &+= 1
        }
        while position < end, TokenCharacters.contains(bytes[position]) { position &+= 1 }
        return position
    }

    @inline(__always) private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    @inline(__always) private static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// Sets the top bit of each byte below 0x20 or equal to 0x7F, including tabs.
    @inline(__always) private static func controls(in word: UInt64) -> UInt64 {
        let low = (word &- ones &* 0x20) & ~word
        let deleted = word ^ (ones &* 0x7F)
        return (low | ((deleted &- ones) & ~deleted)) & tops
    }

    /// Sets the top bit of each byte that is neither a letter nor a hyphen, of which most names consist.
    ///
    /// Sums stay within their bytes, because the top bits are masked off first.
    @inline(__always) private static func othersThanLettersAndHyphens(in word: UInt64) -> UInt64 {
        let lowered = (word | ones &* 0x20) & ~tops
        let letters = (lowered &+ ones &* (0x80 - 0x61)) & ~(lowered &+ ones &* (0x80 - 0x7B))
        let unlikeHyphen = ((word & ~tops) ^ ones &* 0x2D) &+ ones &* 0x7F
        return ((unlikeHyphen & ~letters) | word) & tops
    }

    /// Eight bytes, the first one lowest.
    @inline(__always) static func word(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> UInt64 {
        UInt64(littleEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// The first eight bytes of a literal, which must have that many.
    @inline(__always) static func word(of text: StaticString) -> UInt64 {
        word(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount), at: 0)
    }

    /// Whether the bytes in `range` spell `name`, ignoring ASCII case. `name` must be in lower case.
    ///
    /// The bytes must not contain control characters: then setting the bit for lower case makes no other character
    /// equal to a letter, digit or sign of a name.
    @inline(__always)
    static func spells(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, _ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard range.count == count else { return false }
        let text = UnsafeBufferPointer(start: name.utf8Start, count: count)
        var offset = 0
        while count &- offset >= 8 {
            let lowered = word(bytes, at: range.lowerBound &+ offset) | ones &* 0x20
            if lowered != word(text, at: offset) { return false }
            offset &+= 8
        }
        while offset < count {
            if bytes[range.lowerBound &+ offset] | 0x20 != text[offset] { return false }
            offset &+= 1
        }
        return true
    }

    /// The range without spaces and tabs at either end.
    @inline(__always)
    static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, isBlank(bytes[lower]) { lower &+= 1 }
        while lower < upper, isBlank(bytes[upper &- 1]) { upper &-= 1 }
        return lower..<upper
    }

    /// The number that consists of digits only, at least one, and is at most `Int.max`; otherwise nil.
    static func number(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int? {
        if range.isEmpty { return nil }
        var value = 0
        // This few digits cannot overflow.
        if range.count <= 18 {
            for position in range {
                guard isDigit(bytes[position]) else { return nil }
                value = value &* 10 &+ Int(bytes[position] &- 0x30)
            }
            return value
        }
        for position in range {
            guard isDigit(bytes[position]) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, spill) = product.addingReportingOverflow(Int(bytes[position] &- 0x30))
            if overflow || spill { return nil }
            value = sum
        }
        return value
    }
}

/// The elements of a comma-separated list (RFC 9110 §5.6.1), trimmed and without empty ones.
struct ListElements {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position: Int
    private let end: Int

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func next() -> Range<Int>? {
        while position < end {
            let start = position
            while position < end, bytes[position] != Octets.comma { position &+= 1 }
            let element = Octets.trimmed(bytes, start..<position)
            position &+= 1
            if !element.isEmpty { return element }
        }
        return nil
    }
}
