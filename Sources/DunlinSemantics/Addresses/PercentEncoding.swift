internal import DunlinTypes

/// Percent-encoding (RFC 3986 §2.1): decoded for user info and hosts, checked and completed elsewhere.
public enum PercentEncoding {
    /// The problem with a text that cannot be a query as it is.
    public enum Problem: Sendable, Hashable {
        /// A character that must be percent-encoded.
        case character(Unicode.Scalar)
        /// A `%` without two hexadecimal digits after it.
        case triplet
    }

    /// Returns the first byte that keeps the text from being a query (RFC 3986 §3.4); nil if there is none.
    public static func problem(inQuery text: String) -> (offset: Int, problem: Problem)? {
        let bytes = text.utf8.span
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "%"):
                if octet(bytes, at: index, before: bytes.count) == nil { return (index, .triplet) }
            case ...0x20, 0x7F..., UInt8(ascii: "#"), UInt8(ascii: "\\"):
                return (index, .character(scalar(bytes, at: index)))
            case let byte where isUnwise(byte): return (index, .character(Unicode.Scalar(byte)))
            default: continue
            }
        }
        return nil
    }

    /// Returns part of a path or query, with characters encoded that are not allowed there but often written.
    static func encoded(_ text: String, in range: Range<Int>) -> String {
        let part = text.bytes(in: range)
        guard part.utf8.contains(where: isUnwise) else { return part }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(part.utf8.count + 16)
        for byte in part.utf8 {
            if isUnwise(byte) { bytes.appendTriplet(of: byte) } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether RFC 2396 called a character unwise: visible, but in no rule of RFC 3986 for a path or a query.
    private static func isUnwise(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    /// Returns the scalar that begins at `index`: strings are valid UTF-8, and scanning stops at a scalar's first byte.
    static func scalar(_ bytes: Span<UInt8>, at index: Int) -> Unicode.Scalar {
        let text = String(decoding: (index..<min(index + 4, bytes.count)).map { bytes[$0] }, as: UTF8.self)
        return text.unicodeScalars.first ?? "\u{FFFD}"
    }

    /// Returns the decoded text; nil if a triplet is bad or the octets are not UTF-8, as a repaired password would be a
    /// different one.
    static func decode(_ bytes: Span<UInt8>, in range: Range<Int>) -> String? {
        octets(bytes, in: range).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Returns the decoded octets; nil if a triplet is bad.
    static func octets(_ bytes: Span<UInt8>, in range: Range<Int>) -> [UInt8]? {
        var octets: [UInt8] = []
        octets.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            if bytes[index] == UInt8(ascii: "%") {
                guard let octet = octet(bytes, at: index, before: range.upperBound) else { return nil }
                octets.append(octet)
                index += 3
            } else {
                octets.append(bytes[index])
                index += 1
            }
        }
        return octets
    }

    /// Returns the meaning of a query's name or value, as in forms: `+` is a space, and a `%` that begins no triplet is
    /// itself.
    public static func meaning(ofQueryPart text: Substring) -> String {
        String(decoding: meaning(of: text.utf8, plusIsSpace: true), as: UTF8.self)
    }

    /// Returns the octets that a text means. A `%` that begins no triplet is itself.
    public static func meaning(of text: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        let bytes = Array(text)
        var octets: [UInt8] = []
        octets.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), let octet = octet(bytes.span, at: index, before: bytes.count) {
                octets.append(octet)
                index += 3
            } else {
                octets.append(plusIsSpace && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
                index += 1
            }
        }
        return octets
    }

    /// Returns the octet of the triplet at `index`.
    static func octet(_ bytes: Span<UInt8>, at index: Int, before end: Int) -> UInt8? {
        guard index + 2 < end, let high = Hex.value(bytes[index + 1]), let low = Hex.value(bytes[index + 2]) else {
            return nil
        }
        return high << 4 | low
    }
}

extension String {
    /// Returns the text at these UTF-8 offsets, which must be next to ASCII characters.
    func bytes(in range: Range<Int>) -> String {
        let lower = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return String(self[lower..<utf8.index(lower, offsetBy: range.count)])
    }
}
