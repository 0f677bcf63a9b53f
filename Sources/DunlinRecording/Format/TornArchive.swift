internal import Dunlin

/// Finds what is whole of an archive, whose end may be torn.
///
/// It follows strings and brackets alone: an entry is an object in the array `entries` of the object `log`, and whole
/// when its bracket is closed. It takes the text in pieces of any size, in constant memory.
struct TornArchive {
    private static let depthOfEntries = 3
    private static let (outerName, name) = (Array("log".utf8), Array("entries".utf8))

    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    private var position = 0
    /// The last text outside the entries, as far as it may be a member's name.
    private var lastName: [UInt8] = []
    private var isInLog = false
    private var isInEntries = false
    /// Where the array of the entries begins.
    private(set) var begin: Int?
    /// Where the last whole entry ends.
    private(set) var endOfEntries: Int?
    /// Whether the text has come to its end.
    private(set) var isClosed = false

    /// Where the next entry is to be written: after the last whole one.
    var end: Int? { endOfEntries ?? begin }

    mutating func take(_ bytes: Bytes) {
        let span = bytes.span
        for index in span.indices {
            take(span[index])
            position += 1
        }
    }

    /// The text up to the last whole entry, with the brackets closed; nil if the error is not that the end is torn.
    static func wholePart(of text: Bytes, after error: HTTP.JSON.SyntaxError) -> Bytes? {
        var archive = TornArchive()
        archive.take(text)
        // Of the brackets before a torn entry some may be left, so the text does not always end too early.
        guard let end = archive.end, error.problem == .unexpectedEnd || error.offset >= archive.endOfEntries ?? .max
        else { return nil }
        return Bytes(text[0..<end].array + Array("]}}".utf8))
    }

    private mutating func take(_ byte: UInt8) {
        if isInText {
            let wasEscaped = isEscaped
            isEscaped = !wasEscaped && byte == UInt8(ascii: "\\")
            isInText = wasEscaped || byte != UInt8(ascii: "\"")
            if isInText, depth < Self.depthOfEntries, lastName.count <= Self.name.count { lastName.append(byte) }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): (isInText, lastName) = (true, [])
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            depth += 1
            if depth == Self.depthOfEntries - 1 { isInLog = lastName == Self.outerName }
            if byte == UInt8(ascii: "["), depth == Self.depthOfEntries, isInLog, lastName == Self.name {
                (begin, endOfEntries, isInEntries) = (position + 1, nil, true)
            }
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            if depth == Self.depthOfEntries + 1, isInEntries { endOfEntries = position + 1 }
            if depth == Self.depthOfEntries { isInEntries = false }
            depth -= 1
            if depth == 0 { isClosed = true }
        default: break
        }
    }
}
