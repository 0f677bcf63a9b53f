public import DunlinTypes

/// One link of Link fields (RFC 8288 §3), read forgivingly: what is no link ends its field, and those before it count.
public struct LinkField: Sendable, Equatable {
    /// The reference as the server wrote it, usually relative.
    public var reference: String
    /// The relations to the context, in lower case, such as `next` or `last`.
    public var relations: [String]
    /// The context; nil for the response itself.
    public var anchor: String?
    /// The title to show.
    public var title: String?

    /// Returns all links of a response, in order.
    public static func all(in fields: Fields) -> [LinkField] {
        fields.rawValues(of: "link").flatMap { value in
            var reader = ValueReader(value)
            var links: [LinkField] = []
            while let link = next(&reader) { links.append(link) }
            return links
        }
    }

    private static func next(_ reader: inout ValueReader) -> LinkField? {
        repeat { reader.skipBlanks() } while reader.take(",")
        guard reader.take("<") else { return nil }
        let reference = reader.takeAll { $0 != UInt8(ascii: ">") }
        guard reader.take(">"), let text = String(validating: reference, as: UTF8.self) else { return nil }
        var link = LinkField(reference: text, relations: [])
        var seen: Set<String> = []
        while true {
            reader.skipBlanks()
            guard reader.take(";") else { return link }
            reader.skipBlanks()
            guard let name = reader.token()?.lowercased() else { continue }
            let value = value(&reader)
            // Of a repeated parameter the first counts (RFC 8288 §3.3).
            if seen.insert(name).inserted { link.note(name, value) }
        }
    }

    private static func value(_ reader: inout ValueReader) -> String {
        reader.skipBlanks()
        guard reader.take("=") else { return "" }
        reader.skipBlanks()
        let bytes =
            reader.quotedString() ?? Array(reader.takeAll { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") })
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func note(_ name: String, _ value: String) {
        switch name {
        case "rel": relations = value.lowercased().split { $0 == " " || $0 == "\t" }.map { String($0) }
        case "anchor": anchor = value
        case "title": title = value
        default: break
        }
    }
}
