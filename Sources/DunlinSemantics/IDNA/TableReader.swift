/// The numbers of a generated table: base 64, five bits to a character, lowest first; bit 5 says that more follow.
struct TableReader: Sequence, IteratorProtocol {
    private var characters: String.UTF8View.Iterator

    init(_ text: String) {
        characters = text.utf8.makeIterator()
    }

    mutating func next() -> UInt32? {
        var number: UInt32 = 0
        var shift: UInt32 = 0
        while let character = characters.next() {
            let bits = Self.value(of: character)
            number |= (bits & 31) << shift
            if bits < 32 { return number }
            shift += 5
        }
        return nil
    }

    /// Returns the next number with its sign in the lowest bit.
    mutating func nextSigned() -> Int32? {
        next().map { Self.signed($0) }
    }

    static func signed(_ number: UInt32) -> Int32 {
        Int32(truncatingIfNeeded: number >> 1) ^ -Int32(truncatingIfNeeded: number & 1)
    }

    private static func value(of character: UInt8) -> UInt32 {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        default: character == UInt8(ascii: "+") ? 62 : 63
        }
    }
}
