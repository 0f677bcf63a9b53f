/// A content coding that Dunlin can do and undo (RFC 9110 §8.4.1). Its raw value is its name in `Content-Encoding`.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    /// RFC 1952: one member or several, each with a checksum.
    case gzip
    /// The zlib format of RFC 1950. Some servers send RFC 1951's raw deflate under this name; both are understood.
    case deflate

    /// The codings named by all `Content-Encoding` fields of a message, in the order in which they were applied.
    ///
    /// Names are compared without case, `x-gzip` is `gzip`, `identity` and empty list elements count for nothing. Nil
    /// if a coding is unknown: the body can't be decoded and is best handed on as it is. Throws `tooManyCodings` if
    /// each is known but there are more than `limit` of them.
    public static func chain(
        _ fieldValues: [String], limit: Int = InflateLimits().codings
    ) throws(InflateError) -> [ContentCoding]? {
        var chain: [ContentCoding] = []
        for name in fieldValues.flatMap({ $0.utf8.split(separator: UInt8(ascii: ",")) }) {
            switch trimmed(name).lowercased() {
            case "", "identity": continue
            case "gzip", "x-gzip": chain.append(.gzip)
            case "deflate": chain.append(.deflate)
            default: return nil
            }
        }
        guard chain.count <= limit else { throw .tooManyCodings(limit: limit) }
        return chain
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return Substring(text)
    }
}
