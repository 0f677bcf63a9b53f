/// A list of supported content codings, the preferred ones first.
public struct ContentCodecs: Sendable {
    /// All of Dunlin's codings. To add one, add a file in `Codings` beside `Gzip`, and a word here.
    public static let known = ContentCodecs([.gzip, .deflate])

    public let all: [ContentCodec]

    public init(_ all: [ContentCodec]) {
        self.all = all
    }

    /// Returns a list with one more coding, which takes precedence over others with its names.
    public func adding(_ codec: ContentCodec) -> ContentCodecs {
        ContentCodecs(all.filter { $0 != codec } + [codec])
    }

    /// The value of `Accept-Encoding`; nil if there is nothing to ask for.
    public var accepted: String? {
        let names = all.filter(\.isAskedFor).map(\.name)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// Returns the coding with this name, in any case; nil if it is unknown.
    public func named(_ name: String) -> ContentCodec? {
        let name = name.lowercased()
        return all.first { $0.isCalled(name) }
    }

    /// Returns the codings in all `Content-Encoding` fields of a message, in the order in which they were applied.
    ///
    /// `identity` and empty list elements are ignored. Nil if a coding is unknown: the body cannot be decoded and is
    /// best passed on unchanged. Throws `tooManyCodings` if all are known but there are more than `limit`.
    public func chain(
        _ fieldValues: [String], limit: Int = InflateLimits().codings
    ) throws(InflateError) -> [ContentCodec]? {
        var chain: [ContentCodec] = []
        for element in fieldValues.flatMap({ $0.utf8.split(separator: UInt8(ascii: ",")) }) {
            let name = Self.trimmed(element).lowercased()
            if name.isEmpty || name == "identity" { continue }
            guard let codec = named(name) else { return nil }
            chain.append(codec)
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
