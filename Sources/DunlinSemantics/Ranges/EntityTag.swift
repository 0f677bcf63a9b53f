public import DunlinTypes

/// An entity tag (RFC 9110 §8.8.3): the server's name for one state of a resource.
///
/// Taken strictly, unless a cache reads it, and sent back as it came.
public struct EntityTag: Sendable, Hashable {
    /// The tag as it came: with its quotes, and with `W/` if it is weak.
    let bytes: Bytes
    /// Whether states of one resource may share it although their bytes differ.
    public let isWeak: Bool

    /// Reads a tag; nil also for one that is not UTF-8, because as text it would be another tag.
    public init?(_ value: Bytes) {
        guard Self.isTag(value), String(validating: value, as: UTF8.self) != nil else { return nil }
        (bytes, isWeak) = (value, value.first == UInt8(ascii: "W"))
    }

    public init?(_ text: String) {
        self.init(Bytes(text))
    }

    /// Reads a tag leniently, for a cache that asks whether its response is still current: also one without quotes, as
    /// servers send it, or with any bytes. Such a tag is weak, so it says nothing of a part. Nil for a text that would
    /// mean something else in a list: any tag (`*`), or several.
    init?(forgiving value: Bytes) {
        if let tag = EntityTag(value) {
            self = tag
            return
        }
        let isPlain = value.allSatisfy {
            $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"")
        }
        guard Self.isTag(value) || isPlain && !value.isEmpty && !value.elementsEqual("*".utf8) else { return nil }
        (bytes, isWeak) = (value, true)
    }

    private static func isTag(_ value: Bytes) -> Bool {
        var reader = ValueReader(value)
        if reader.take("W"), !reader.take("/") { return false }
        guard reader.take("\"") else { return false }
        _ = reader.takeAll { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
        return reader.take("\"") && reader.isAtEnd
    }

    /// Returns whether the bytes are the same, by §8.8.3.2: weak tags are never equal.
    public func isStronglyEqual(to other: EntityTag) -> Bool {
        self == other && !isWeak
    }
}

extension EntityTag: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
