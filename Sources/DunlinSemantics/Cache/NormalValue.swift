package import DunlinTypes

/// Normalises a field's value, so that values with one meaning are equal (RFC 9111 §4.1). Several fields are one list,
/// and blanks around commas mean nothing. If members have weights (RFC 9110 §12.5), neither their order nor their case
/// matters.
package enum NormalValue {
    package static func of(_ name: String, _ values: [Bytes]) -> Bytes {
        let isWeighed = weighed.contains(name)
        // Most fields are one value without a comma.
        if !isWeighed, values.count == 1, !values[0].contains(UInt8(ascii: ",")) { return trimmed(values[0]) }
        var members = values.flatMap { Self.members(of: $0) }
        if isWeighed {
            members = members.map { Bytes($0.filter { !isBlank($0) }.map(lowered)) }.filter { !$0.isEmpty }
            members.sort { $0.lexicographicallyPrecedes($1) }
        }
        return Bytes(Array(members.joined(separator: [UInt8(ascii: ",")])))
    }

    private static let weighed: Set<String> = ["accept-language", "accept-encoding", "accept-charset"]

    /// Returns the members between commas outside of quotes, without blanks around them.
    private static func members(of value: Bytes) -> [Bytes] {
        var members: [Bytes] = []
        var start = 0
        var isQuoted = false
        var isEscaped = false
        for index in 0..<value.count {
            let byte = value[index]
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append(trimmed(value[start..<index]))
                start = index + 1
            }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
        }
        members.append(trimmed(value[start..<value.count]))
        return members
    }

    private static func trimmed(_ value: Bytes) -> Bytes {
        guard let first = value.firstIndex(where: { !isBlank($0) }), let last = value.lastIndex(where: { !isBlank($0) })
        else { return .empty }
        return value[first..<last + 1]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
