import DunlinTypes

/// Reads the trailer section after the last chunk (RFC 9112 §7.1.2), which is usually just an empty line.
///
/// `FieldScanner` scans the field lines, under separate limits. Fields that would change how the message is framed,
/// routed, authenticated or decoded may not be trailers (RFC 9110 §6.5.1): they are left out, though trailers are never
/// merged into the head, so they could have no effect. It must not know the head.
///
/// The bytes are copied, because the input belongs to others; the limit bounds the copy.
struct TrailerReader: Sendable {
    private let limit: Int
    /// Whether the limits allow an empty line, which has two bytes.
    private let mayBeEmpty: Bool
    private var buffer: [UInt8] = []
    private var scanner: FieldScanner
    private(set) var fields = Fields()

    init(limits: WireLimits) {
        limit = max(limits.trailerBytes, 0)
        mayBeEmpty = min(limits.trailerBytes, limits.lineBytes) >= 2
        scanner = FieldScanner(.trailers, limits: limits)
        scanner.begin(section: 0, line: 0)
    }

    /// Returns where in `bytes` the section ends; nil if all of them were taken and more are needed.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, from offset: Int) throws(WireError) -> Int? {
        let held = buffer.count
        // Without trailers, the two bytes of an empty line need no array.
        if held == 0, mayBeEmpty, bytes.count - offset >= 2, bytes[offset] == Octets.cr,
            bytes[offset + 1] == Octets.lf
        {
            return offset + 2
        }
        let taken = min(bytes.count - offset, limit - held)
        buffer.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[offset..<(offset + taken)]))
        let isComplete = try buffer.withUnsafeBufferPointer { held throws(WireError) in try scanner.scan(held) }
        guard isComplete else { return nil }
        fields = Fields(bytes: buffer, entries: scanner.entries.filter { !isForbidden($0) })
        return offset + scanner.cursor - held
    }

    private func isForbidden(_ entry: Fields.Entry) -> Bool {
        buffer.withUnsafeBufferPointer { TrailerReader.isForbidden($0, entry.name) }
    }

    static func isForbidden(_ bytes: UnsafeBufferPointer<UInt8>, _ name: Range<Int>) -> Bool {
        forbidden.contains { Octets.spells(bytes, name, $0) }
    }

    private static let forbidden: [StaticString] = [
        "authorization", "cache-control", "connection", "content-encoding", "content-length", "content-range",
        "content-type", "cookie", "expect", "host", "keep-alive", "location", "max-forwards", "proxy-authenticate",
        "proxy-authorization", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "www-authenticate",
    ]
}
