public import DunlinTypes

extension WebAddress {
    /// Returns the address that a reference at this one means (RFC 3986 §5.2.2): `users`, `/users`, `?page=2`,
    /// `//example.com/users`, `#top`, a whole URL. The empty reference is this address without its fragment.
    ///
    /// User info stays with the authority it was written for: relative references keep it, others bring their own.
    public func resolving(_ reference: String) throws(AddressError) -> WebAddress {
        let bytes = reference.utf8.span
        if let start = directLength(of: bytes) {
            return WebAddress(
                origin: origin, userInfo: userInfo, target: target(appending: reference, to: start), fragment: nil)
        }
        let parts = AddressParts(bytes)
        if parts.scheme != nil { return try WebAddress(absolute: parts, of: reference, bytes) }
        if parts.authority != nil {
            let authority = try Authority(of: reference, bytes, in: parts.authority)
            return try WebAddress(
                origin: HTTP.Origin(scheme: origin.scheme, checkedHost: authority.host, port: authority.port),
                userInfo: authority.userInfo, tail: parts, of: reference, bytes)
        }
        if let problem = Self.problem(in: bytes, from: 0) {
            throw AddressError(problem, in: reference, authority: 0..<0)
        }
        return WebAddress(
            origin: origin, userInfo: userInfo, target: target(for: parts, of: reference, bytes),
            fragment: parts.fragment.map(reference.bytes(in:)))
    }

    /// Returns the origin and target for a reference that merely follows or replaces this address's path; nil if
    /// `resolving` has to decide.
    public func directTarget(for reference: String) -> (origin: HTTP.Origin, target: String)? {
        guard let start = directLength(of: reference.utf8.span) else { return nil }
        return (origin, target(appending: reference, to: start))
    }

    /// Returns the text without the user info of its authority.
    public static func withoutUserInfo(_ text: String) -> String {
        let bytes = text.utf8.span
        guard let authority = AddressParts(bytes).authority,
            let at = authority.last(where: { bytes[$0] == UInt8(ascii: "@") })
        else { return text }
        return text.bytes(in: 0..<authority.lowerBound) + text.bytes(in: at + 1..<bytes.count)
    }

    /// Returns the target of a reference with neither scheme nor authority.
    private func target(for parts: AddressParts, of reference: String, _ bytes: Span<UInt8>) -> String {
        let query = parts.query.map { "?" + PercentEncoding.encoded(reference, in: $0) }
        guard let first = parts.path.first else {
            return query.map { target.bytes(in: 0..<pathLength) + $0 } ?? target
        }
        let written = PercentEncoding.encoded(reference, in: parts.path)
        let isRooted = bytes[first] == UInt8(ascii: "/")
        let path = isRooted ? written : target.bytes(in: 0..<directoryLength) + written
        return DotSegments.removed(from: path) + (query ?? "")
    }

    private func target(appending reference: String, to length: Int) -> String {
        if length == 0 { return reference }
        return (length == target.utf8.count ? target : target.bytes(in: 0..<length)) + reference
    }

    /// Returns how much of this address's target comes before the reference, if resolving is merely appending: no
    /// scheme, authority, dot segment, fragment or percent sign, and a path. Nil means to resolve fully, so this scan
    /// may reject whatever takes more than a look at one byte.
    private func directLength(of bytes: Span<UInt8>) -> Int? {
        guard bytes.count > 0, bytes[0] != UInt8(ascii: "?") else { return nil }
        let isRooted = bytes[0] == UInt8(ascii: "/")
        var colonIsPlain = isRooted
        var previous: UInt8 = isRooted ? 0 : UInt8(ascii: "/")
        for index in bytes.indices {
            let byte = bytes[index]
            if !Self.isPlain(byte) {
                switch byte {
                case UInt8(ascii: "/"):
                    if index == 1, isRooted { return nil }
                    colonIsPlain = true
                case UInt8(ascii: "?"): colonIsPlain = true
                case UInt8(ascii: "."):
                    if previous == UInt8(ascii: "/") { return nil }
                case UInt8(ascii: ":"):
                    if !colonIsPlain { return nil }
                default: return nil
                }
            }
            previous = byte
        }
        return isRooted ? 0 : directoryLength
    }
    /// Whether a byte is visible ASCII, no delimiter, percent sign or backslash, and needs no encoding: a bit for each,
    /// because this decides how long a request's preparation takes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        let half = byte < 64 ? plain.low : byte < 128 ? plain.high : 0
        return half >> UInt64(byte & 63) & 1 == 1
    }

    private static let plain: (low: UInt64, high: UInt64) = (0x2BFF_3FD2_0000_0000, 0x47FF_FFFE_87FF_FFFF)
}
