import DunlinTypes

/// The host of a URL, brought into the one form that names it: what `HTTP.Origin.host` holds.
///
/// - A name in ASCII is lower-cased and otherwise kept. Letters, digits, hyphens and underscores make its labels;
///   hyphens may stand anywhere and underscores are let through, since both are in use in names that resolve. One dot
///   may end it.
/// - A name with percent-encoded octets is decoded first (RFC 3986 §3.2.2).
/// - A name with anything beyond ASCII, or with a Punycode label, goes through IDNA.
/// - A name whose last label is a number must be an IPv4 address in four decimal numbers.
/// - IPv6 addresses get their RFC 5952 form, so that an address has one origin however it is spelled.
enum HostName {
    static func normalized(
        _ bytes: Span<UInt8>, in range: Range<Int>
    ) throws(AddressError.Problem) -> String {
        guard !range.isEmpty else { throw .emptyHost }
        if bytes[range.lowerBound] == UInt8(ascii: "[") { return try addressInBrackets(bytes, in: range) }
        for index in range where bytes[index] >= 0x80 || bytes[index] == UInt8(ascii: "%") {
            return try decoded(bytes, in: range)
        }
        return try asciiName(bytes, in: range)
    }

    private static func decoded(_ bytes: Span<UInt8>, in range: Range<Int>) throws(AddressError.Problem) -> String {
        guard let text = PercentEncoding.decode(bytes, in: range) else { throw .invalidHost }
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        let ascii = isASCII ? text : try encoded(text)
        let name = ascii.utf8.span
        return try asciiName(name, in: 0..<name.count, checkingPunycode: isASCII)
    }

    private static func encoded(_ text: String) throws(AddressError.Problem) -> String {
        do {
            return try IDNA.toASCII(text, allowingUnderscores: true)
        } catch {
            throw .unencodableHost(error)
        }
    }

    private static func asciiName(
        _ bytes: Span<UInt8>, in range: Range<Int>, checkingPunycode: Bool = true
    ) throws(AddressError.Problem) -> String {
        let scan = try scan(bytes, in: range)
        if isNumber(bytes, in: scan.lastLabel), HostLiteral.v4(bytes, in: range) == nil { throw .invalidIPv4 }
        let name = text(bytes, in: range, lowercasing: scan.hasUppercase)
        return checkingPunycode && scan.hasPunycode ? try encoded(name) : name
    }

    private struct Scan {
        var hasUppercase = false
        var hasPunycode = false
        var lastLabel: Range<Int>

        mutating func end(_ label: Range<Int>, of bytes: Span<UInt8>) throws(AddressError.Problem) {
            guard (1...63).contains(label.count) else { throw .invalidHost }
            lastLabel = label
            if label.count >= 4, bytes[label.lowerBound] | 0x20 == UInt8(ascii: "x"),
                bytes[label.lowerBound + 1] | 0x20 == UInt8(ascii: "n"),
                bytes[label.lowerBound + 2] == UInt8(ascii: "-"), bytes[label.lowerBound + 3] == UInt8(ascii: "-")
            {
                hasPunycode = true
            }
        }
    }

    /// Checks the characters and lengths of an ASCII name.
    private static func scan(_ bytes: Span<UInt8>, in range: Range<Int>) throws(AddressError.Problem) -> Scan {
        let isRooted = bytes[range.upperBound - 1] == UInt8(ascii: ".")
        let name = isRooted ? range.lowerBound..<range.upperBound - 1 : range
        guard name.count <= 253 else { throw .invalidHost }
        var scan = Scan(lastLabel: name)
        var labelStart = name.lowerBound
        for index in name {
            switch bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                continue
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): scan.hasUppercase = true
            case UInt8(ascii: "."):
                try scan.end(labelStart..<index, of: bytes)
                labelStart = index + 1
            default: throw .invalidHost
            }
        }
        try scan.end(labelStart..<name.upperBound, of: bytes)
        return scan
    }

    /// Whether a label is decimal digits, or hexadecimal ones after `0x`, which some parsers take for part of an IPv4
    /// address.
    private static func isNumber(_ bytes: Span<UInt8>, in label: Range<Int>) -> Bool {
        let isHexadecimal =
            label.count >= 2 && bytes[label.lowerBound] == UInt8(ascii: "0")
            && bytes[label.lowerBound + 1] | 0x20 == UInt8(ascii: "x")
        let digits = isHexadecimal ? label.dropFirst(2) : label
        return digits.allSatisfy { index in Hex.value(bytes[index]).map { isHexadecimal || $0 < 10 } ?? false }
    }

    private static func text(_ bytes: Span<UInt8>, in range: Range<Int>, lowercasing: Bool) -> String {
        String(unsafeUninitializedCapacity: range.count) { buffer in
            for (offset, index) in range.enumerated() {
                let byte = bytes[index]
                let isUppercase = lowercasing && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                buffer[offset] = isUppercase ? byte | 0x20 : byte
            }
            return range.count
        }
    }

    private static func addressInBrackets(
        _ bytes: Span<UInt8>, in range: Range<Int>
    ) throws(AddressError.Problem) -> String {
        guard range.count > 2, bytes[range.upperBound - 1] == UInt8(ascii: "]") else { throw .invalidIPv6 }
        let inside = range.lowerBound + 1..<range.upperBound - 1
        for index in inside where bytes[index] == UInt8(ascii: "%") { throw .zoneIdentifier }
        guard let (high, low) = HostLiteral.v6(bytes, in: inside) else { throw .invalidIPv6 }
        return HTTP.SocketAddress.v6(high, low, port: 0).host
    }
}
