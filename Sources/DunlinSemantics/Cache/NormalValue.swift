internal import DunlinTypes

/// A field's value in the form in which values of one meaning are equal (RFC 9111 §4.1).
///
/// Several fields are one list, and blanks around commas mean nothing. Where the members of a list have their weights
/// beside them (RFC 9110 §12.5), neither their order nor their case means anything either.
enum NormalValue {
    static func of(_ name: String, _ values: [Bytes]) -> Bytes {
        var members = values.flatMap { Self.members(of: $0) }
        if weighed.contains(name) {
            members = members.map { $0.filter { $0 != 0x20 && $0 != 0x09 }.map(lowered) }.filter { !$0.isEmpty }
            members.sort { $0.lexicographicallyPrecedes($1) }
        }
        return Bytes(Array(members.joined(separator: [UInt8(ascii: ",")])))
    }

    private static let weighed: Set<String> = ["accept-language", "accept-encoding", "accept-charset"]

    /// What stands between the commas outside of quotes, without the blanks around it.
    private static func members(of value: Bytes) -> [[UInt8]] {
        var members: [[UInt8]] = []
        var member: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in value {
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append(trimmed(member))
                member = []
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
            member.append(byte)
        }
        members.append(trimmed(member))
        return members
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return Array(bytes[first...last])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
