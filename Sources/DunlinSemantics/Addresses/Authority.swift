/// The authority of a URL, between `//` and the path: user info, host and port (RFC 3986 §3.2).
struct Authority {
    let userInfo: WebAddress.UserInfo?
    let host: String
    let port: UInt16?

    init(of text: String, _ bytes: Span<UInt8>, in range: Range<Int>?) throws(AddressError) {
        guard let range else { throw AddressError(.emptyHost, in: text) }
        do {
            var start = range.lowerBound
            var info: WebAddress.UserInfo?
            // The first @ ends the user info: another one in it has to be encoded, and no host has any.
            if let at = range.first(where: { bytes[$0] == UInt8(ascii: "@") }) {
                info = try Self.userInfo(bytes, in: start..<at)
                start = at + 1
            }
            let end = Self.hostEnd(bytes, in: start..<range.upperBound)
            host = try HostName.normalized(bytes, in: start..<end)
            port = try Self.port(bytes, in: end..<range.upperBound)
            userInfo = info
        } catch {
            throw AddressError(error, in: text)
        }
    }

    private static func userInfo(
        _ bytes: Span<UInt8>, in range: Range<Int>
    ) throws(AddressError.Problem) -> WebAddress.UserInfo? {
        guard !range.isEmpty else { return nil }
        guard range.allSatisfy({ isAllowedInUserInfo(bytes[$0]) }) else { throw .invalidUserInfo }
        let colon = range.first { bytes[$0] == UInt8(ascii: ":") }
        guard let user = PercentEncoding.decode(bytes, in: range.lowerBound..<(colon ?? range.upperBound)) else {
            throw .invalidUserInfo
        }
        guard let colon else { return WebAddress.UserInfo(user: user, password: nil) }
        guard let password = PercentEncoding.decode(bytes, in: colon + 1..<range.upperBound) else {
            throw .invalidUserInfo
        }
        return WebAddress.UserInfo(user: user, password: password)
    }

    /// Whether a byte may be in user info: unreserved, sub-delims, `:` and `%`.
    private static func isAllowedInUserInfo(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "&")...UInt8(ascii: "."), UInt8(ascii: "0")...UInt8(ascii: ";"), UInt8(ascii: "$"),
            UInt8(ascii: "%"), UInt8(ascii: "!"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns the host's end: after the bracket that closes an IPv6 literal, else before the colon.
    private static func hostEnd(_ bytes: Span<UInt8>, in range: Range<Int>) -> Int {
        if let first = range.first, bytes[first] == UInt8(ascii: "[") {
            return range.first { bytes[$0] == UInt8(ascii: "]") }.map { $0 + 1 } ?? range.upperBound
        }
        return range.first { bytes[$0] == UInt8(ascii: ":") } ?? range.upperBound
    }

    /// Returns the port; nil for none, as in `host:` (RFC 3986 §3.2.3).
    private static func port(_ bytes: Span<UInt8>, in range: Range<Int>) throws(AddressError.Problem) -> UInt16? {
        guard let colon = range.first else { return nil }
        guard bytes[colon] == UInt8(ascii: ":") else { throw .invalidPort }
        guard range.count > 1 else { return nil }
        var port = 0
        for index in range.dropFirst() {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index]) else { throw .invalidPort }
            port = port * 10 + Int(bytes[index] & 15)
            guard port <= 65535 else { throw .invalidPort }
        }
        guard port > 0 else { throw .invalidPort }
        return UInt16(port)
    }
}
