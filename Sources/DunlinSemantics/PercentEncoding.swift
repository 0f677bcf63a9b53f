/// Percent-encoding (RFC 3986 §2.1): decoded for user info and hosts, checked and otherwise left alone elsewhere.
enum PercentEncoding {
    /// Nil if a triplet is bad or the octets are not UTF-8: a repaired password would be a different one.
    static func decode(_ bytes: Span<UInt8>, in range: Range<Int>) -> String? {
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
        return String(validating: octets, as: UTF8.self)
    }

    /// The octet that the triplet at `index` stands for.
    static func octet(_ bytes: Span<UInt8>, at index: Int, before end: Int) -> UInt8? {
        guard index + 2 < end, let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2]) else {
            return nil
        }
        return high << 4 | low
    }
}

extension String {
    /// The part of the text at these UTF-8 offsets, which lie next to ASCII characters.
    func bytes(in range: Range<Int>) -> String {
        let lower = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
        return String(self[lower..<utf8.index(lower, offsetBy: range.count)])
    }
}
