public import DunlinTypes

/// The content of one Set-Cookie field (RFC 6265bis §5.6), regardless of its sender. It reads what servers really send:
/// blanks around everything, unknown attributes, quotes that belong to the value. Of a repeated attribute the last
/// counts, and Max-Age counts before Expires. The field is refused for control characters, for more than 4096 bytes of
/// name and value, and if it is not UTF-8, as it could not be sent back unchanged. An attribute longer than 1024 bytes
/// is ignored.
public struct SetCookie: Sendable, Equatable {
    public var name: String
    public var value: String
    /// The domain in lower case, without its leading dot; nil for none or an empty one.
    public var domain: String?
    /// The path; nil for the default.
    public var path: String?
    public var expires: Int64?
    public var isSecure = false
    public var isHTTPOnly = false
    public var sameSite: HTTP.Cookie.SameSite?

    /// The longest life of a cookie: 400 days (§5.5).
    public static let longestLife: Int64 = 400 * 86_400
    private static let longestAttribute = 1024

    /// Reads a field; `now` is in seconds since 1970.
    public init?(_ field: Bytes, at now: Int64) {
        let bytes = field.array
        guard !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = Self.pair(parts[0])
        guard let name = Self.text(pair.value == nil ? [] : pair.name), let value = Self.text(pair.value ?? pair.name)
        else { return nil }
        guard !(name.isEmpty && value.isEmpty), name.utf8.count + value.utf8.count <= HTTP.Cookie.longest else {
            return nil
        }
        (self.name, self.value) = (name, value)
        var ending = Ending()
        for part in parts.dropFirst() { take(part, &ending, at: now) }
        expires = (ending.age ?? ending.date).map { min($0, Self.latest(at: now)) }
    }

    private struct Ending {
        /// The end by Max-Age.
        var age: Int64?
        /// The end by Expires.
        var date: Int64?
    }

    private mutating func take(_ part: ArraySlice<UInt8>, _ ending: inout Ending, at now: Int64) {
        let attribute = Self.pair(part)
        let value = attribute.value ?? []
        guard value.count <= Self.longestAttribute else { return }
        switch String(decoding: attribute.name, as: UTF8.self).lowercased() {
        case "expires": ending.date = CookieDate.seconds(value) ?? ending.date
        case "max-age": ending.age = Self.end(after: value, at: now) ?? ending.age
        case "domain": domain = Self.domain(value)
        case "path": path = value.first == UInt8(ascii: "/") ? Self.text(value) : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite": sameSite = HTTP.Cookie.SameSite(rawValue: String(decoding: value, as: UTF8.self).lowercased())
        default: return
        }
    }

    private static func domain(_ value: ArraySlice<UInt8>) -> String {
        let value = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
        // Bytes beyond ASCII stay invalid however they are decoded: no host has them.
        return String(decoding: value.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func latest(at now: Int64) -> Int64 {
        let (latest, isTooLate) = now.addingReportingOverflow(longestLife)
        return isTooLate ? .max : latest
    }

    /// Returns the end; nil for text that is no number. A number that is too large gives the longest life, one below 1
    /// expires at once.
    private static func end(after age: ArraySlice<UInt8>, at now: Int64) -> Int64? {
        let isNegative = age.first == UInt8(ascii: "-")
        let digits = isNegative ? age.dropFirst() : age
        guard !digits.isEmpty, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        let seconds = Int64(String(decoding: digits, as: UTF8.self)) ?? longestLife
        if isNegative || seconds == 0 { return .min }
        return seconds >= longestLife ? latest(at: now) : now.addingReportingOverflow(seconds).partialValue
    }

    /// Returns the parts before and after the first `=`; the second is nil without one.
    private static func pair(_ part: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
        guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<sign]), trimmed(part[(sign + 1)...]))
    }

    private static func trimmed(_ part: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let rest = part.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return [] }
        return rest[...last]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String? { String(validating: bytes, as: UTF8.self) }
}

extension SetCookie {
    /// Whether the cookie keeps its name's promise: for one host and all its paths means that the field itself says so.
    func meetsPrefix(isHostOnly: Bool) -> Bool {
        switch CookiePrefix(name: name, value: value) {
        case .none: true
        case .secure: isSecure
        case .host: isSecure && isHostOnly && (domain ?? "").isEmpty && path == "/"
        case .imitated: false
        }
    }
}
