public import DunlinTypes

/// A Location field, read as forgivingly as browsers do: servers write what browsers follow.
///
/// The bytes become a reference that `WebAddress` takes. Only what no URL may hold is touched, and all of it is sent as
/// percent-encoded octets:
///
/// - blanks and control characters around it are dropped, tabs within it too;
/// - a backslash before the query is a slash;
/// - other blanks, control characters, quotes, angle brackets, whatever is not ASCII, and a `%` that begins no octet
///   are encoded, except in the host, where names in Unicode have a form of their own.
///
/// Nothing else is repaired: a host that is none is refused.
public enum Location: Sendable, Equatable {
    /// There is no such field.
    case none
    case reference(String)
    /// Several fields differ; one may be an attacker's.
    case ambiguous
    /// The host has bytes that are not UTF-8.
    case unreadable

    public init(_ fields: Fields) {
        let values = fields.rawValues(of: "location")
        guard let first = values.first else {
            self = .none
            return
        }
        guard values.allSatisfy({ $0 == first }) else {
            self = .ambiguous
            return
        }
        self = Self.encoded(Self.trimmed(first)).map { .reference($0) } ?? .unreadable
    }

    private static func trimmed(_ value: Bytes) -> [UInt8] {
        guard let first = value.firstIndex(where: { $0 > 0x20 }), let last = value.lastIndex(where: { $0 > 0x20 })
        else { return [] }
        var bytes = value[first..<last + 1].filter { $0 != UInt8(ascii: "\t") }
        var index = 0
        while index < bytes.count, bytes[index] != UInt8(ascii: "?"), bytes[index] != UInt8(ascii: "#") {
            if bytes[index] == UInt8(ascii: "\\") { bytes[index] = UInt8(ascii: "/") }
            index += 1
        }
        return bytes
    }

    private static func encoded(_ bytes: [UInt8]) -> String? {
        let start = AddressParts(bytes.span).path.lowerBound
        var text = Array(bytes[..<start])
        for index in start..<bytes.count {
            let byte = bytes[index]
            if mustBeEncoded(byte)
                || byte == UInt8(ascii: "%") && PercentEncoding.octet(bytes.span, at: index, before: bytes.count) == nil
            {
                text.appendTriplet(of: byte)
            } else {
                text.append(byte)
            }
        }
        return String(validating: text, as: UTF8.self)
    }

    private static func mustBeEncoded(_ byte: UInt8) -> Bool {
        switch byte {
        case ...0x20, 0x7F..., UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"): true
        default: false
        }
    }
}
