/// Finds the encoding that a document declares in its first bytes, before it can be read (WHATWG HTML §13.2.3.2,
/// "prescan a byte stream").
///
/// Rules: comments and other tags are skipped with their attributes, so that nothing in them is taken for a
/// declaration. `charset` counts alone, `content` only with `http-equiv="content-type"`; of attributes with the same
/// name, the first counts. A declaration of UTF-16 that is readable as ASCII means UTF-8. An XML declaration comes
/// last.
struct MetaPrescan {
    static let length = 1024

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes.prefix(Self.length))
    }

    /// The encoding that the first `length` bytes declare; nil for none or an unknown one.
    static func encoding(of document: some Sequence<UInt8>) -> HTMLEncoding? {
        var scan = MetaPrescan(document)
        if scan.bytes.starts(with: [0x3C, 0, 0x3F, 0, 0x78, 0]) { return HTMLEncoding(label: "utf-16le") }
        if scan.bytes.starts(with: [0, 0x3C, 0, 0x3F, 0, 0x78]) { return HTMLEncoding(label: "utf-16be") }
        return scan.markup() ?? scan.xmlDeclaration()
    }

    private mutating func markup() -> HTMLEncoding? {
        while position < bytes.count {
            if has("<!--") {
                // The two hyphens of the beginning may also be those of the end.
                skip(past: "-->", from: position + 2)
            } else if has("<meta"), let next = byte(at: position + 5), Self.isSpace(next) || next == Self.slash {
                position += 5
                if let encoding = declaration() { return encoding }
                position += 1
            } else if isTag {
                while let byte = byte(at: position), !Self.isSpace(byte), byte != Self.greater { position += 1 }
                while attribute() != nil {}
                position += 1
            } else if has("<!") || has("</") || has("<?") {
                skip(past: ">", from: position)
            } else {
                position += 1
            }
        }
        return nil
    }

    /// The encoding that a meta element's attributes declare.
    private mutating func declaration() -> HTMLEncoding? {
        var names: Set<String> = []
        var isPragma = false
        var charset: HTMLEncoding??
        var needsPragma: Bool?
        while let (name, value) = attribute() {
            guard names.insert(name).inserted else { continue }
            switch name {
            case "http-equiv": isPragma = value == "content-type"
            case "content":
                guard charset == nil, let encoding = Self.encoding(inContent: value) else { continue }
                charset = encoding
                needsPragma = true
            case "charset":
                charset = .some(HTMLEncoding(label: value))
                needsPragma = false
            default: break
            }
        }
        guard let needsPragma, isPragma || !needsPragma, let encoding = charset ?? nil else { return nil }
        return encoding.inASCII
    }

    /// The next attribute of an element; nil at the end of the element or of the bytes.
    private mutating func attribute() -> (name: String, value: String)? {
        while let byte = byte(at: position), Self.isSpace(byte) || byte == Self.slash { position += 1 }
        guard let first = byte(at: position), first != Self.greater else { return nil }
        var name: [UInt8] = []
        while let byte = byte(at: position), byte != Self.equals || name.isEmpty {
            if Self.isSpace(byte) { break }
            if byte == Self.slash || byte == Self.greater { return (Self.text(name), "") }
            name.append(byte)
            position += 1
        }
        skipSpace()
        guard let byte = byte(at: position) else { return nil }
        guard byte == Self.equals else { return (Self.text(name), "") }
        position += 1
        skipSpace()
        return value().map { (Self.text(name), $0) }
    }

    private mutating func value() -> String? {
        guard let first = byte(at: position) else { return nil }
        let quote = first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") ? first : nil
        if quote != nil { position += 1 }
        var value: [UInt8] = []
        while let byte = byte(at: position) {
            if byte == quote {
                position += 1
                return Self.text(value)
            }
            if quote == nil, Self.isSpace(byte) || byte == Self.greater { return Self.text(value) }
            value.append(byte)
            position += 1
        }
        return nil
    }

    /// The encoding in `<?xml … encoding="…" ?>`.
    private func xmlDeclaration() -> HTMLEncoding? {
        let text = Self.text(bytes)
        guard text.hasPrefix("<?xml"), let end = text.firstIndex(of: ">"),
            let word = text[..<end].firstRange(of: "encoding")
        else { return nil }
        var rest = text[word.upperBound..<end].drop(while: \.isControlOrSpace)
        guard rest.popFirst() == "=" else { return nil }
        rest = rest.drop(while: \.isControlOrSpace)
        guard let quote = rest.popFirst(), quote == "\"" || quote == "'", let close = rest.firstIndex(of: quote),
            !rest[..<close].contains(where: \.isControlOrSpace)
        else { return nil }
        return HTMLEncoding(label: String(rest[..<close]))?.inASCII
    }
}

// MARK: - Bytes

extension MetaPrescan {
    private static let slash = UInt8(ascii: "/")
    private static let greater = UInt8(ascii: ">")
    private static let equals = UInt8(ascii: "=")

    private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    /// The bytes as text in lower case, one character for each byte.
    private static func text(_ bytes: [UInt8]) -> String {
        String(String.UnicodeScalarView(bytes.map { Unicode.Scalar((0x41...0x5A).contains($0) ? $0 | 0x20 : $0) }))
    }

    /// Whether this word, in any case, is at the current position.
    private func has(_ word: String) -> Bool { Self.text(Array(bytes[position...].prefix(word.utf8.count))) == word }

    private var isTag: Bool {
        guard byte(at: position) == UInt8(ascii: "<"), let next = byte(at: position + 1) else { return false }
        guard let letter = next == Self.slash ? byte(at: position + 2) : next else { return false }
        return (0x41...0x5A).contains(letter & 0xDF)
    }

    private mutating func skipSpace() {
        while let byte = byte(at: position), Self.isSpace(byte) { position += 1 }
    }

    private mutating func skip(past word: String, from start: Int) {
        position = min(start, bytes.count)
        while position < bytes.count, !has(word) { position += 1 }
        position = min(position + word.utf8.count, bytes.count)
    }

    /// The encoding in `text/html; charset=…`.
    private static func encoding(inContent text: String) -> HTMLEncoding? {
        var rest = text[...]
        while let word = rest.firstRange(of: "charset") {
            rest = rest[word.upperBound...].drop(while: \.isHTMLSpace)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop(while: \.isHTMLSpace)
            guard let first = rest.first else { return nil }
            if first == "\"" || first == "'" {
                let label = rest.dropFirst()
                return label.firstIndex(of: first).flatMap { HTMLEncoding(label: String(label[..<$0])) }
            }
            return HTMLEncoding(label: String(rest.prefix { !$0.isHTMLSpace && $0 != ";" }))
        }
        return nil
    }
}

extension Character {
    fileprivate var isHTMLSpace: Bool { ["\t", "\n", "\u{0C}", "\r", "\r\n", " "].contains(self) }
    fileprivate var isControlOrSpace: Bool { unicodeScalars.allSatisfy { $0.value <= 0x20 } }
}

extension HTMLEncoding {
    /// The encoding that is meant by a declaration that can be read as ASCII.
    fileprivate var inASCII: HTMLEncoding? {
        switch name {
        case "UTF-16LE", "UTF-16BE": .utf8
        case "x-user-defined": HTMLEncoding(label: "windows-1252")
        default: self
        }
    }
}
