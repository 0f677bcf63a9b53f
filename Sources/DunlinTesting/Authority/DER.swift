internal import Glibc

/// Writes DER (X.690): each function returns one whole value, and values nest.
///
/// Certificates are written here, and OpenSSL only signs them: tests need certificates that no library would issue.
enum DER {
    static func value(_ tag: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 0x80 else { return [UInt8(count)] }
        let digits = withUnsafeBytes(of: count.bigEndian) { Array($0.drop { $0 == 0 }) }
        return [0x80 | UInt8(digits.count)] + digits
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.joined().map(\.self)) }

    static func sequence(of parts: [[UInt8]]) -> [UInt8] { value(0x30, parts.joined().map(\.self)) }

    static func set(_ part: [UInt8]) -> [UInt8] { value(0x31, part) }

    /// A non-negative number, most significant byte first.
    static func integer(_ magnitude: some Collection<UInt8>) -> [UInt8] {
        let digits = Array(magnitude.drop { $0 == 0 })
        return value(0x02, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits)
    }

    static func integer(_ small: UInt8) -> [UInt8] { integer([small]) }

    static func enumerated(_ small: UInt8) -> [UInt8] { value(0x0a, [small]) }

    static let yes = value(0x01, [0xff])
    static let null = value(0x05, [])

    static func octets(_ content: some Collection<UInt8>) -> [UInt8] { value(0x04, content) }

    static func bits(_ content: some Collection<UInt8>, unused: UInt8 = 0) -> [UInt8] {
        value(0x03, [unused] + content)
    }

    static func text(_ text: String) -> [UInt8] { value(0x0c, Array(text.utf8)) }

    /// A context-specific tag around whole values.
    static func explicit(_ number: UInt8, _ content: [UInt8]) -> [UInt8] { value(0xa0 | number, content) }

    /// A context-specific tag in place of a primitive value's own.
    static func implicit(_ number: UInt8, _ content: some Collection<UInt8>) -> [UInt8] {
        value(0x80 | number, content)
    }

    static func object(_ arcs: ObjectID) -> [UInt8] {
        var content = [UInt8(arcs.numbers[0] * 40 + arcs.numbers[1])]
        for number in arcs.numbers.dropFirst(2) {
            var digits = [UInt8(number & 0x7f)]
            var rest = number >> 7
            while rest > 0 {
                digits.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
                rest >>= 7
            }
            content += digits
        }
        return value(0x06, content)
    }
}

extension DER {
    /// A time as in certificates: with two digits of the year until 2049, and four afterwards (RFC 5280 §4.1.2.5).
    static func time(_ seconds: Int) -> [UInt8] {
        let time = stamp(seconds)
        return (1950..<2050).contains(time.year) ? value(0x17, time.text.utf8.dropFirst(2)) : generalTime(seconds)
    }

    static func generalTime(_ seconds: Int) -> [UInt8] { value(0x18, stamp(seconds).text.utf8) }

    private static func stamp(_ seconds: Int) -> (year: Int, text: String) {
        var seconds = time_t(seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let year = Int(parts.tm_year) + 1900
        let rest = [parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec]
        let padded = String(String(year + 10_000).suffix(4)) + rest.map { String(String($0 + 100).suffix(2)) }.joined()
        return (year, padded + "Z")
    }
}

/// An object identifier, by its numbers.
struct ObjectID {
    let numbers: [Int]

    init(_ numbers: Int...) { self.numbers = numbers }

    static let commonName = ObjectID(2, 5, 4, 3)
    static let subjectKey = ObjectID(2, 5, 29, 14)
    static let keyUsage = ObjectID(2, 5, 29, 15)
    static let subjectNames = ObjectID(2, 5, 29, 17)
    static let basicConstraints = ObjectID(2, 5, 29, 19)
    static let listNumber = ObjectID(2, 5, 29, 20)
    static let nameConstraints = ObjectID(2, 5, 29, 30)
    static let authorityKey = ObjectID(2, 5, 29, 35)
    static let purposes = ObjectID(2, 5, 29, 37)
    /// The TLS feature extension (RFC 7633).
    static let feature = ObjectID(1, 3, 6, 1, 5, 5, 7, 1, 24)
    static let serverPurpose = ObjectID(1, 3, 6, 1, 5, 5, 7, 3, 1)
    static let clientPurpose = ObjectID(1, 3, 6, 1, 5, 5, 7, 3, 2)
    static let codePurpose = ObjectID(1, 3, 6, 1, 5, 5, 7, 3, 3)
    static let statusPurpose = ObjectID(1, 3, 6, 1, 5, 5, 7, 3, 9)
    static let basicStatus = ObjectID(1, 3, 6, 1, 5, 5, 7, 48, 1, 1)
    static let sha1 = ObjectID(1, 3, 14, 3, 2, 26)
    static let p256 = ObjectID(1, 2, 840, 10045, 3, 1, 7)
}
