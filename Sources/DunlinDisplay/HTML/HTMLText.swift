package import Dunlin

/// The text of a document, and how it was read.
///
/// The encoding is determined by a byte order mark, then by the Content-Type, then by the document itself; otherwise,
/// and for unknown labels, it is UTF-8 (WHATWG HTML §13.2.3.2, Encoding §6). Invalid bytes are replaced by U+FFFD.
package struct HTMLText: Equatable {
    package let text: String
    /// The encoding's name in the Encoding Standard.
    let encoding: String
    /// Whether something was replaced.
    package let isLossy: Bool

    package init(_ bytes: Bytes, declared: String?) {
        let encoding =
            Self.marked(bytes) ?? declared.flatMap { HTMLEncoding(label: $0) } ?? MetaPrescan.encoding(of: bytes)
            ?? .utf8
        self.encoding = encoding.name
        switch encoding.name {
        case "replacement":
            (text, isLossy) = (bytes.isEmpty ? "" : "\u{FFFD}", !bytes.isEmpty)
        case "x-user-defined":
            // The bytes, represented by private characters.
            let units = bytes.map { $0 < 0x80 ? UInt16($0) : 0xF700 | UInt16($0) }
            (text, isLossy) = (String(decoding: units, as: UTF16.self), false)
        default:
            (text, isLossy) = Charset(encoding.charset).repairedText(bytes)
        }
    }

    private static func marked(_ bytes: Bytes) -> HTMLEncoding? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if bytes.starts(with: [0xFE, 0xFF]) { return HTMLEncoding(label: "utf-16be") }
        return bytes.starts(with: [0xFF, 0xFE]) ? HTMLEncoding(label: "utf-16le") : nil
    }
}
