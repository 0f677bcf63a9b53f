/// Looks at a property list before Foundation reads it, which trusts what it reads: how it is written, and that it is
/// neither nested too deep for a stack nor larger unfolded than it is on the wire.
///
/// Foundation's own writers share texts and numbers among a binary list's containers, never the containers themselves;
/// one that is in two places, or within itself, can make a few hundred bytes stand for more than fits into a machine.
struct PropertyListShape {
    enum Format: Sendable, Hashable {
        case binary
        case xml
    }

    static let deepest = 512

    /// Throws `NetworkError`-worthy reasons as text.
    struct Refusal: Error, Sendable, Hashable {
        let reason: String
    }

    static func check(_ body: Bytes) throws(Refusal) -> Format {
        if body.starts(with: Array("bplist00".utf8)) {
            var shape = BinaryPropertyListShape(body)
            try shape.check()
            return .binary
        }
        let bytes = try text(of: body).array
        guard bytes.first(where: { !$0.isSpace }) == UInt8(ascii: "<") else {
            throw Refusal(reason: "it is a property list neither in XML nor in binary form")
        }
        try checkDepth(bytes)
        return .xml
    }

    private static func text(of body: Bytes) throws(Refusal) -> Bytes {
        guard let charset = body.markedCharset else {
            return body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3..<body.count] : body
        }
        guard let text = charset.text(body) else { throw Refusal(reason: "the text is no valid \(charset.name)") }
        return Bytes(text)
    }

    private static func checkDepth(_ bytes: [UInt8]) throws(Refusal) {
        var depth = 0
        var tags = PropertyListTags(bytes)
        while let step = try tags.next() {
            depth += step
            guard depth <= deepest else { throw Refusal(reason: "it is nested more than \(deepest) deep") }
        }
    }
}

/// The tags of an XML property list, as far as they count for its depth. Where it cannot tell a tag that closes itself
/// from one that does not, it takes it for open: no text is deeper than it says.
private struct PropertyListTags {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// One deeper, one less deep, or no change; nil at the end.
    mutating func next() throws(PropertyListShape.Refusal) -> Int? {
        guard let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) else { return nil }
        index = start + 1
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "/"): return -1
        case UInt8(ascii: "?"): skip(past: "?>")
        case UInt8(ascii: "!") where bytes[index...].starts(with: "!--".utf8): skip(past: "-->")
        case UInt8(ascii: "!") where bytes[index...].starts(with: "![CDATA[".utf8): skip(past: "]]>")
        case UInt8(ascii: "!"): try skipDocumentType()
        default: return isClosed() ? 0 : 1
        }
        return 0
    }

    private mutating func skip(past end: StaticString) {
        let end = UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)
        while index < bytes.count, !bytes[index...].starts(with: end) { index += 1 }
    }

    private mutating func skipDocumentType() throws(PropertyListShape.Refusal) {
        while index < bytes.count, bytes[index] != UInt8(ascii: ">") {
            guard bytes[index] != UInt8(ascii: "[") else {
                throw PropertyListShape.Refusal(reason: "it declares a document type of its own")
            }
            index += 1
        }
    }

    /// Whether the tag closes itself beyond doubt.
    private mutating func isClosed() -> Bool {
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: ">"): return bytes[index - 1] == UInt8(ascii: "/")
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"): return false
            default: index += 1
            }
        }
        return false
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
