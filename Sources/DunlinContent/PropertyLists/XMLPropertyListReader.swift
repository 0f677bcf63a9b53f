/// Reads a property list in XML strictly, and writes it anew in the plainest form.
///
/// Rules:
/// 1. Only the elements of property lists are allowed, each in its place; keys and values alternate and tags match.
///    Only `plist` may have an attribute, its version. A list without `plist` around it is accepted.
/// 2. Comments and processing instructions are skipped; CDATA sections and references stand for their text. A document
///    type may be named but declare nothing; only XML's own five entities exist.
/// 3. The output has no comments, CDATA sections or declarations and only one attribute, so another reader can
///    understand it in only one way. It is at most five times as long as the input.
/// 4. The input is read once, from left to right. Nesting is counted, without recursion, up to
///    `PropertyListShape.deepest`.
/// 5. Numbers, dates and data are treated as text and left to the next reader.
///
/// The next reader is Foundation's decoder, or the program's own, which takes only bytes.
struct XMLPropertyListReader: MarkupReader {
    private enum Element: String {
        case plist, array, dict, key, string, integer, real, `true`, `false`, date, data
    }

    /// An element that contains others.
    private enum Container {
        case plist(isFilled: Bool)
        case array
        case dict(awaitsKey: Bool)
    }

    private struct Tag {
        let element: Element
        /// Whether the tag is also the element's end.
        let isEmpty: Bool
    }

    package let bytes: [UInt8]
    /// Whether an encoding named in the XML declaration must be UTF-8, because no byte order mark tells it.
    private let isDeclaredUTF8: Bool
    package var position = 0
    private var written: [UInt8] = []
    private var open: [Container] = []

    /// Creates a reader of bytes in UTF-8.
    init(_ bytes: [UInt8], isDeclaredUTF8: Bool) {
        self.bytes = bytes
        self.isDeclaredUTF8 = isDeclaredUTF8
    }

    /// Reads the list and returns it anew, in UTF-8.
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
        if MarkRun.isTooLong(in: written) { throw PropertyListShape.tooManyMarks }
        return isWrapped ? written : Array("<plist version=\"1.0\">".utf8) + written + Array("</plist>".utf8)
    }
}

// MARK: - Elements

extension XMLPropertyListReader {
    /// Reads a start tag, or a whole element if it contains no others. Returns whether it is `plist`.
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

    /// Checks that an element may occur here, and notes what may come next.
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

    /// Reads the end tag of the innermost container, after `</`.
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
    /// Reads from after a start tag to after its end tag.
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

    /// Reads from after `&` to after `;`.
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

    /// The scalar of a numeric reference. XML forbids control characters, but other programs write them into property
    /// lists.
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

    /// Skips a comment from after `<!--`. Two hyphens may only be its end (XML 1.0 §2.5).
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
