internal import Dunlin

/// The encoding of a document as bytes (RFC 7303 §3, XML 1.0 appendix F).
enum XMLEncoding {
    /// The document in UTF-8 without its byte order mark; nil if it does not match the encoding declared by itself or
    /// from outside.
    static func utf8(_ bytes: Bytes, declared: String?) -> [UInt8]? {
        let charset = bytes.markedCharset ?? mark(bytes) ?? declared.map { Charset($0) } ?? shown(bytes) ?? .utf8
        return charset.text(bytes).map { Array($0.utf8) }
    }

    private static func mark(_ bytes: Bytes) -> Charset? {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? .utf8 : nil
    }

    /// The encoding that the first `<` or the XML declaration shows; the declaration is ASCII unless the first bytes
    /// show otherwise.
    private static func shown(_ bytes: Bytes) -> Charset? {
        if bytes.starts(with: [0x00, 0x3C]) { return Charset("utf-16be") }
        if bytes.starts(with: [0x3C, 0x00]) { return Charset("utf-16le") }
        guard bytes.starts(with: "<?xml".utf8) else { return nil }
        let start = String(decoding: bytes.prefix(200), as: UTF8.self)
        guard let end = start.firstRange(of: "?>"), let name = start[..<end.lowerBound].firstRange(of: "encoding")
        else { return nil }
        let rest = start[name.upperBound..<end.lowerBound].drop { $0 == " " || $0 == "=" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        return Charset(String(rest.dropFirst().prefix { $0 != quote }))
    }

    /// The position of the first character that no document may contain (§2.2). Lone surrogates are not valid UTF-8
    /// anyway.
    static func firstForbidden(in text: [UInt8]) -> Int? {
        text.indices.first { index in
            let byte = text[index]
            if byte < 0x20 { return !XML.Reader.isSpace(byte) }
            guard byte == 0xEF, index + 2 < text.count else { return false }
            return text[index + 1] == 0xBF && text[index + 2] >= 0xBE
        }
    }
}
