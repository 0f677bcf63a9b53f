public import DunlinTypes

/// An entity tag (RFC 9110 §8.8.3): the server's name for one state of a resource.
///
/// Taken strictly and sent back as it came. A tag whose bytes are no UTF-8 is refused: as text it would be another tag.
public struct EntityTag: Sendable, Hashable, CustomStringConvertible {
    /// The tag with its quotes, and with `W/` if it is weak.
    public let description: String

    public init?(_ value: Bytes) {
        var reader = ValueReader(value)
        if reader.take("W"), !reader.take("/") { return nil }
        guard reader.take("\"") else { return nil }
        _ = reader.takeAll { $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }
        guard reader.take("\""), reader.isAtEnd, let text = String(validating: value, as: UTF8.self) else {
            return nil
        }
        description = text
    }

    public init?(_ text: String) {
        self.init(Bytes(text))
    }

    public static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.description.hasSameBytes(as: right.description)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: description) }

    /// Whether states of one resource may share it although their bytes differ.
    public var isWeak: Bool { description.hasPrefix("W") }

    /// Returns whether the bytes are the same, by §8.8.3.2: weak tags are never equal.
    public func isStronglyEqual(to other: EntityTag) -> Bool {
        self == other && !isWeak
    }
}
