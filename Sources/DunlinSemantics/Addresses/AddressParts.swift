/// A URI reference cut at its delimiters: RFC 3986 appendix B, as offsets into the UTF-8 text.
///
/// Cutting never fails and judges nothing; delimiters stay outside the ranges.
struct AddressParts {
    private(set) var scheme: Range<Int>?
    private(set) var authority: Range<Int>?
    let path: Range<Int>
    private(set) var query: Range<Int>?
    private(set) var fragment: Range<Int>?

    init(_ bytes: Span<UInt8>) {
        let end = bytes.count
        var position = 0
        let head = Self.firstDelimiter(in: bytes, from: 0, colon: true)
        if head < end, bytes[head] == UInt8(ascii: ":") {
            scheme = 0..<head
            position = head + 1
        }
        if position + 1 < end, bytes[position] == UInt8(ascii: "/"), bytes[position + 1] == UInt8(ascii: "/") {
            let stop = Self.firstDelimiter(in: bytes, from: position + 2)
            authority = position + 2..<stop
            position = stop
        }
        let pathEnd = Self.firstDelimiter(in: bytes, from: position, slash: false)
        path = position..<pathEnd
        position = pathEnd
        if position < end, bytes[position] == UInt8(ascii: "?") {
            let stop = Self.firstDelimiter(in: bytes, from: position + 1, slash: false, question: false)
            query = position + 1..<stop
            position = stop
        }
        if position < end { fragment = position + 1..<end }
    }

    /// The request's target: path, query and what is between them, unless the path is empty.
    var target: Range<Int> { path.lowerBound..<(query?.upperBound ?? path.upperBound) }

    /// Returns the first `#` or other delimiter; the end of the text if there is none.
    private static func firstDelimiter(
        in bytes: Span<UInt8>, from start: Int, colon: Bool = false, slash: Bool = true, question: Bool = true
    ) -> Int {
        for index in start..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "#"): return index
            case UInt8(ascii: "?") where question: return index
            case UInt8(ascii: "/") where slash: return index
            case UInt8(ascii: ":") where colon: return index
            default: continue
            }
        }
        return bytes.count
    }
}
