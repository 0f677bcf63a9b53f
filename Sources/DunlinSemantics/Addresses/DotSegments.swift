/// Removal of `.` and `..` segments (RFC 3986 §5.2.4). `%2e` is not a dot here: percent-encoding is kept as written.
enum DotSegments {
    /// Returns the path without dot segments; both begin with a slash.
    static func removed(from path: String) -> String {
        let bytes = path.utf8.span
        guard contains(bytes) else { return path }
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var start = 1
        while start <= bytes.count {
            let end = (start..<bytes.count).first { bytes[$0] == UInt8(ascii: "/") } ?? bytes.count
            let dots = dots(bytes, in: start..<end)
            if dots == 2 { removeLast(from: &kept) }
            if dots == 0 {
                kept.append(UInt8(ascii: "/"))
                for index in start..<end { kept.append(bytes[index]) }
            } else if end == bytes.count {
                kept.append(UInt8(ascii: "/"))
            }
            start = end + 1
        }
        return String(decoding: kept, as: UTF8.self)
    }

    private static func removeLast(from segments: inout [UInt8]) {
        let slash = segments.lastIndex(of: UInt8(ascii: "/")) ?? 0
        segments.removeSubrange(slash...)
    }

    /// Returns 1 for `.`, 2 for `..`, 0 for any other segment.
    private static func dots(_ bytes: Span<UInt8>, in segment: Range<Int>) -> Int {
        guard (1...2).contains(segment.count) else { return 0 }
        return segment.allSatisfy { bytes[$0] == UInt8(ascii: ".") } ? segment.count : 0
    }

    private static func contains(_ bytes: Span<UInt8>) -> Bool {
        for index in 1..<max(bytes.count, 1)
        where bytes[index] == UInt8(ascii: ".") && bytes[index - 1] == UInt8(ascii: "/") {
            return true
        }
        return false
    }
}
