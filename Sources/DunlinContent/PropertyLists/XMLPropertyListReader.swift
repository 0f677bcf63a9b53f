/// Reads a property list in XML, strictly, and writes it anew as plainly as it can be.
///
/// Rules:
/// 1. There are the elements of property lists and no others, each where it belongs; keys and values take turns. Tags
///    match. None has an attribute but `plist`, which has its version. A list without `plist` around it is one too.
/// 2. Comments and processing instructions stand for nothing, CDATA sections and references for their text. A document
///    type is named and declares nothing; there are no entities but XML's own five.
/// 3. What is written has no comment, no section, no declaration and no attribute but one: another reader can
///    understand it in one way only. It is five times as long as what was read at most.
/// 4. Reads once, from left to right. Nesting is counted, not recursed into, to `PropertyListShape.deepest`.
/// 5. What a number, a date or data says is for the next reader: here it is text.
///
/// The other reader is Foundation's: its decoder, for which a program may give one of its own, takes bytes and nothing
/// else.
struct XMLPropertyListReader: MarkupReader {
    private enum Element: String {
        case plist, array, dict, key, string, integer, real, `true`, `false`, date, data
    }

    /// An element that holds others.
    private enum Container {
        case plist(isFilled: Bool)
        case array
        case dict(awaitsKey: Bool)
    }

    private struct Tag {
        let element: Element
        /// It is its own end.
        let isEmpty: Bool
    }

    package let bytes: [UInt8]
    /// What an XML declaration says of the encoding has to be so, where nothing else has said it.
    private let isDeclaredUTF8: Bool
    package var position = 0
    private var written: [UInt8] = []
    private var open: [Container] = []

    /// `bytes` are UTF-8.
    init(_ bytes: [UInt8], isDeclaredUTF8: Bool) {
        self.bytes = bytes
        self.isDeclaredUTF8 = isDeclaredUTF8
    }

    /// The list in UTF-8.
    mutating func read() throws(PropertyListShape.Refusal) -> [UInt8] {
        skipSpace()
        guard peek == UInt8(ascii: "<") else {
            throw PropertyListShape.Refusal(reason: "it is neither an XML nor a binary property list")
        }
        written.reserveCapacity(bytes.count)
        try declaration()
        try skipMeaningless(documentType: true)
        let isWrapped = try tag(isFirst: true)
        while !open.isEmpty {
            try skipMeaningless()
            if skip("</") { try end() } else { try tag() }
        }
        try skipMeaningless()
        guard position == bytes.count else { throw unexpected() }
        return isWrapped ? written : Array("<plist version=\"1.0\">".utf8) + written + Array("</plist>".utf8)
    }
}

// MARK: - Elements

extension XMLPropertyListReader {
    /// An element that begins; whole if it holds no others. Returns whether it is `plist`.
    @discardableResult
    private mutating func tag(isFirst: Bool = false) throws(PropertyListShape.Refusal) -> Bool {
        let tag = try startTag()
        try take(tag.element, isFirst: isFirst)
        if !tag.isEmpty, open.count >= PropertyListShape.deepest {
            throw PropertyListShape.Refusal(reason: "it is nested more than \(PropertyListShape.deepest) levels deep")
        }
        switch tag.element {
        case .plist: try enter(.plist(isFilled: false), tag, " version=\"1.0\"")
        case .array: try enter(.array, tag)
        case .dict: try enter(.dict(awaitsKey: true), tag)
        case .true, .false:
            if !tag.isEmpty { try expectEnd(of: tag.element) }
            write("<\(tag.element.rawValue)/>")
        case .key, .string, .integer, .real, .date, .data:
            write("<\(tag.element.rawValue)>")
            if !tag.isEmpty { try text(of: tag.element) }
            write("</\(tag.element.rawValue)>")
        }
        return tag.element == .plist
    }

    private mutating func enter(
        _ container: Container, _ tag: Tag, _ attributes: String = ""
    ) throws(PropertyListShape.Refusal) {
        write("<\(tag.element.rawValue)\(attributes)>")
        open.append(container)
        if tag.isEmpty { try close(tag.element) }
    }

    /// Whether an element may stand here, and what may stand here next.
    private mutating func take(_ element: Element, isFirst: Bool) throws(PropertyListShape.Refusal) {
        guard element != .plist || isFirst else { throw unexpected() }
        switch open.popLast() {
        case nil: guard element != .key else { throw unexpected() }
        case .plist(let isFilled):
            guard !isFilled, element != .key else { throw unexpected() }
            open.append(.plist(isFilled: true))
        case .array:
            guard element != .key else { throw unexpected() }
            open.append(.array)
        case .dict(let awaitsKey):
            guard awaitsKey == (element == .key) else { throw unexpected() }
            open.append(.dict(awaitsKey: !awaitsKey))
        }
    }

    /// The end of the innermost container, from past `</`.
    private mutating func end() throws(PropertyListShape.Refusal) {
        let element = try name()
        skipSpace()
        try expect(">")
        try close(element)
    }

    private mutating func close(_ element: Element) throws(PropertyListShape.Refusal) {
        switch (open.popLast(), element) {
        case (.plist(isFilled: true), .plist), (.array, .array), (.dict(awaitsKey: true), .dict):
            write("</\(element.rawValue)>")
        default: throw unexpected()
        }
    }

    private mutating func expectEnd(of element: Element) throws(PropertyListShape.Refusal) {
        try expect("</")
        guard try name() == element else { throw unexpected() }
        skipSpace()
        try expect(">")
    }

    private mutating func startTag() throws(PropertyListShape.Refusal) -> Tag {
        try expect("<")
        let element = try name()
        let hasSpace = skipSpace()
        if element == .plist, hasSpace, skip("version") {
            skipSpace()
            try expect("=")
            skipSpace()
            _ = try quoted()
            skipSpace()
        }
        let isEmpty = skip("/")
        try expect(">")
        return Tag(element: element, isEmpty: isEmpty)
    }

    private mutating func name() throws(PropertyListShape.Refusal) -> Element {
        let start = position
        while let byte = peek, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) { position += 1 }
        guard let element = Element(rawValue: String(decoding: bytes[start..<position], as: UTF8.self)) else {
            throw unexpected()
        }
        return element
    }
}

// MARK: - Text

extension XMLPropertyListReader {
    /// From past a start tag to past its end tag.
    private mutating func text(of element: Element) throws(PropertyListShape.Refusal) {
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "<"):
                if skip("<!--") {
                    try skipComment()
                } else if skip("<![CDATA[") {
                    for byte in try text(before: "]]>") { escape(byte) }
                } else {
                    return try expectEnd(of: element)
                }
            case UInt8(ascii: "&"): for byte in String(try reference()).utf8 { escape(byte) }
            default:
                written.append(byte)
                position += 1
            }
        }
        throw unexpected()
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "<"): write("&lt;")
        case UInt8(ascii: "&"): write("&amp;")
        default: written.append(byte)
        }
    }

    private static let longestReference = 16

    /// From `&` to past `;`.
    private mutating func reference() throws(PropertyListShape.Refusal) -> Unicode.Scalar {
        position += 1
        guard let end = bytes[position...].prefix(Self.longestReference).firstIndex(of: UInt8(ascii: ";")) else {
            throw unexpected()
        }
        let name = String(decoding: bytes[position..<end], as: UTF8.self)
        guard let scalar = Self.predefined[name] ?? Self.numbered(name) else { throw unexpected() }
        position = end + 1
        return scalar
    }

    private static let predefined: [String: Unicode.Scalar] = [
        "lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'",
    ]

    /// Control characters are no characters of XML, but of property lists that others write.
    private static func numbered(_ name: String) -> Unicode.Scalar? {
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), let value = Self.number(digits, radix: isHexadecimal ? 16 : 10), value > 0
        else { return nil }
        return Unicode.Scalar(value)
    }
}

// MARK: - What stands for nothing

extension XMLPropertyListReader {
    private mutating func declaration() throws(PropertyListShape.Refusal) {
        guard isAt("<?xml"), position + 5 < bytes.count, Self.isSpace(bytes[position + 5]) else { return }
        position += 5
        while skipSpace(), !isAt("?>") {
            let start = position
            while let byte = peek, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") { position += 1 }
            let name = String(decoding: bytes[start..<position], as: UTF8.self)
            skipSpace()
            try expect("=")
            skipSpace()
            let value = String(decoding: try quoted(), as: UTF8.self).lowercased()
            guard ["version", "encoding", "standalone"].contains(name) else { throw unexpected() }
            if name == "encoding", isDeclaredUTF8, !["utf-8", "utf8", "us-ascii"].contains(value) {
                throw PropertyListShape.Refusal(reason: "it declares an encoding that is not UTF-8")
            }
        }
        try expect("?>")
    }

    private mutating func skipMeaningless(documentType isAllowed: Bool = false) throws(PropertyListShape.Refusal) {
        var mayBeType = isAllowed
        while true {
            skipSpace()
            if skip("<!--") {
                try skipComment()
            } else if isAt("<?") {
                guard !isAt("<?xml ") else { throw unexpected() }
                _ = try text(before: "?>")
            } else if mayBeType, skip("<!DOCTYPE") {
                mayBeType = false
                try documentType()
            } else {
                return
            }
        }
    }

    /// From past `<!--`: two hyphens are its end and nothing else (XML 1.0 §2.5).
    private mutating func skipComment() throws(PropertyListShape.Refusal) {
        _ = try text(before: "--")
        try expect(">")
    }

    private mutating func documentType() throws(PropertyListShape.Refusal) {
        guard skipSpace(), try name() == .plist else { throw unexpected() }
        let hasSpace = skipSpace()
        let isPublic = skip("PUBLIC")
        if isPublic || skip("SYSTEM") {
            for _ in 0..<(isPublic ? 2 : 1) {
                guard hasSpace, skipSpace() else { throw unexpected() }
                _ = try quoted()
            }
            skipSpace()
        }
        guard !isAt("[") else {
            throw PropertyListShape.Refusal(reason: "it declares its own document type")
        }
        try expect(">")
    }
}

// MARK: - Steps

extension XMLPropertyListReader {
    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func write(_ text: String) {
        written.append(contentsOf: text.utf8)
    }

    package func unexpected() -> PropertyListShape.Refusal {
        PropertyListShape.Refusal(reason: "the XML property list is incomplete or damaged at byte \(position)")
    }
}
