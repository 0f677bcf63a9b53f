internal import DunlinSemantics

/// Path and query in the one form that both sides sign.
package enum CanonicalTarget {
    /// The path as it is signed, for a path as it is sent.
    ///
    /// S3 escapes what the path means, once, and leaves slashes and dots as they are. Other services remove dot
    /// segments and empty ones, and escape what is sent, which is escaped already, once more.
    package static func path(_ sent: some StringProtocol, followsS3: Bool) -> String {
        let bytes =
            followsS3
            ? Escaping.escaped(PercentEncoding.meaning(of: sent.utf8), keepingSlashes: true)
            : Escaping.escaped(normalized(Array(sent.utf8)), keepingSlashes: true)
        return bytes.isEmpty ? "/" : String(decoding: bytes, as: UTF8.self)
    }

    private static func normalized(_ path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        let segments = path.split(separator: slash)
        var kept: [ArraySlice<UInt8>] = []
        for segment in segments {
            switch String(decoding: segment, as: UTF8.self) {
            case ".": break
            case "..": _ = kept.popLast()
            default: kept.append(segment)
            }
        }
        // What ends in a slash, or in dots that mean a folder, ends in a slash.
        let isFolder = path.last == slash || kept.last?.endIndex != segments.last?.endIndex
        return kept.flatMap { [slash] + $0 } + (isFolder || kept.isEmpty ? [slash] : [])
    }

    /// The query as it is signed: each name and value escaped anew, sorted by name and then by value. A name without a
    /// value gets a `=`.
    package static func query(_ sent: some StringProtocol, adding more: [(name: String, value: String)] = []) -> String
    {
        var pairs = sent.utf8.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (escaped(name), escaped(item.dropFirst(name.count + 1)))
        }
        pairs += more.map { pair in
            let texts = [pair.name, pair.value].map { Escaping.escaped($0.utf8, keepingSlashes: false) }
            return (String(decoding: texts[0], as: UTF8.self), String(decoding: texts[1], as: UTF8.self))
        }
        return pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func escaped(_ text: some Collection<UInt8>) -> String {
        String(decoding: Escaping.escaped(PercentEncoding.meaning(of: text), keepingSlashes: false), as: UTF8.self)
    }
}
