import DunlinTypes

/// The trailer section after the last chunk (RFC 9112 §7.1.2): usually an empty line and nothing to keep.
///
/// Knows: field lines, by way of `FieldScanner`, under limits of their own. Fields that would change how the message
/// is framed, routed, authenticated or decoded may not come this late (RFC 9110 §6.5.1): they are left out, and since
/// trailers are never merged into the head, they could not have had that effect. Must not know: the head.
///
/// Its bytes are copied, because what it is read from belongs to someone else; the limit bounds the copy.
struct TrailerReader: Sendable {
    private let limit: Int
    /// An empty line, two bytes, is within the limits.
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

    /// Where in `bytes` the section ends; nil when all of them were taken and more are needed.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, from offset: Int) throws(WireError) -> Int? {
        let held = buffer.count
        // Without trailers the two bytes of an empty line are all there is: no array for them.
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
