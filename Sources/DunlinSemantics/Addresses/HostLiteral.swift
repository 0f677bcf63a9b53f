public import DunlinTypes

/// Reads hosts that are addresses and need no resolver. IPv4 has one spelling, four decimal numbers without leading
/// zeros (RFC 3986 §3.2.2): octal, hexadecimal and shortened forms mean different addresses to different parsers. IPv6
/// is RFC 4291 §2.2 text, without brackets and without a zone.
public enum HostLiteral {
    /// Returns the address that `host` spells; nil for a name.
    public static func parse(_ host: String, port: UInt16) -> HTTP.SocketAddress? {
        let bytes = host.utf8.span
        if let address = v4(bytes, in: 0..<bytes.count) { return .v4(address, port: port) }
        guard let (high, low) = v6(bytes, in: 0..<bytes.count) else { return nil }
        return .v6(high, low, port: port)
    }

    static func v4(_ bytes: Span<UInt8>, in range: Range<Int>) -> UInt32? {
        guard range.count >= 7, range.count <= 15 else { return nil }
        var address: UInt32 = 0
        var number: UInt32?
        var dots = 0
        for index in range {
            switch (bytes[index], number) {
            case (UInt8(ascii: "."), let value?) where dots < 3:
                address = address << 8 | value
                number = nil
                dots += 1
            case (UInt8(ascii: "0")...UInt8(ascii: "9"), nil):
                number = UInt32(bytes[index] & 15)
            case (UInt8(ascii: "0")...UInt8(ascii: "9"), let value?) where value > 0:
                let grown = value * 10 + UInt32(bytes[index] & 15)
                guard grown <= 255 else { return nil }
                number = grown
            default: return nil
            }
        }
        guard dots == 3, let number else { return nil }
        return address << 8 | number
    }

    static func v6(_ bytes: Span<UInt8>, in range: Range<Int>) -> (UInt64, UInt64)? {
        guard range.count >= 2, range.count <= 45 else { return nil }
        var groups = Groups()
        var index = range.lowerBound
        if bytes[index] == UInt8(ascii: ":") {
            guard bytes[index + 1] == UInt8(ascii: ":") else { return nil }
            index += 1
        }
        while index < range.upperBound {
            // This is the beginning of a group, or the second colon of a gap.
            if bytes[index] == UInt8(ascii: ":") {
                guard groups.openGap() else { return nil }
                index += 1
                continue
            }
            let start = index
            while index < range.upperBound, let _ = Hex.value(bytes[index]) { index += 1 }
            if index < range.upperBound, bytes[index] == UInt8(ascii: ".") {
                guard let tail = v4(bytes, in: start..<range.upperBound) else { return nil }
                return groups.append(UInt16(tail >> 16)) && groups.append(UInt16(tail & 0xFFFF)) ? groups.halves : nil
            }
            guard let group = hexGroup(bytes, in: start..<index), groups.append(group) else { return nil }
            if index == range.upperBound { break }
            // A colon must be followed by the next group or the gap's second colon.
            guard bytes[index] == UInt8(ascii: ":"), index + 1 < range.upperBound else { return nil }
            index += 1
        }
        return groups.halves
    }

    /// The groups before and after the gap, as 128 bits each.
    private struct Groups {
        private var before: [UInt16] = []
        private var after: [UInt16]?

        mutating func append(_ group: UInt16) -> Bool {
            if after == nil { before.append(group) } else { after?.append(group) }
            return before.count + (after?.count ?? 0) <= 8
        }

        /// Opens the gap; returns false for a second one.
        mutating func openGap() -> Bool {
            guard after == nil else { return false }
            after = []
            return true
        }

        /// The address's halves; nil unless there are eight groups, or fewer and a gap.
        var halves: (UInt64, UInt64)? {
            let missing = 8 - before.count - (after?.count ?? 0)
            guard after == nil ? missing == 0 : missing > 0 else { return nil }
            let all = before + Array(repeating: 0, count: missing) + (after ?? [])
            let half = { (slice: ArraySlice<UInt16>) in slice.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
            return (half(all[..<4]), half(all[4...]))
        }
    }

    private static func hexGroup(_ bytes: Span<UInt8>, in range: Range<Int>) -> UInt16? {
        guard range.count >= 1, range.count <= 4 else { return nil }
        var group: UInt16 = 0
        for index in range {
            guard let digit = Hex.value(bytes[index]) else { return nil }
            group = group << 4 | UInt16(digit)
        }
        return group
    }
}
