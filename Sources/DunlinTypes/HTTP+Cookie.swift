extension HTTP {
    /// A cookie as a client stores it (RFC 6265bis §5.7).
    ///
    /// Its value is a secret that no description shows. Encoding does not hide it: store the result where only its
    /// owner can read it.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The cookie's SameSite attribute. It is stored and has no effect, since a client outside a browser has no
        /// sites.
        public enum SameSite: String, Sendable, Hashable, Codable {
            case strict
            case lax
            /// The value `None`.
            case anywhere = "none"
        }

        /// The cookie's name; if empty, only the value is sent.
        public var name: String
        public var value: String
        /// The host, in lower-case ASCII and without a leading dot.
        public var domain: String
        /// Whether the cookie is sent only to the domain itself and not to its subdomains.
        public var isHostOnly: Bool
        /// The path; the cookie is sent to it and to those below.
        public var path: String
        /// The expiry in seconds since 1970; nil for a session cookie, which a program forgets when it ends.
        public var expires: Int64?
        /// Whether the cookie is sent over https only.
        public var isSecure: Bool
        /// The HttpOnly attribute. It is stored and has no effect: there are no scripts to hide the cookie from.
        public var isHTTPOnly: Bool
        public var sameSite: SameSite?

        public init(
            name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
            expires: Int64? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite? = nil
        ) {
            self.name = name
            self.value = value
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
            self.expires = expires
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.sameSite = sameSite
        }

        public func isExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }

        /// The greatest length of name and value together, in bytes.
        public static let longest = 4096
    }
}

extension HTTP.Cookie: CustomDebugStringConvertible, CustomReflectable {
    /// The cookie as in a Set-Cookie field, without its value.
    public var debugDescription: String {
        var parts = ["\(name)=<redacted>", isHostOnly ? "for \(domain)" : "Domain=\(domain)", "Path=\(path)"]
        if let expires { parts.append("Expires=\(CalendarText.utc(expires))") }
        if isSecure { parts.append("Secure") }
        if isHTTPOnly { parts.append("HttpOnly") }
        if let sameSite { parts.append("SameSite=\(sameSite.rawValue)") }
        return VisibleText.of(parts.joined(separator: "; "))
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTP.Cookie {
    /// Why the cookie cannot be sent, or not as it is; nil if it can.
    package var problem: String? {
        if name.isEmpty && value.isEmpty { return "it has neither name nor value" }
        let length = name.utf8.count + value.utf8.count
        if length > Self.longest { return "its name and value have \(length) bytes, and the limit is \(Self.longest)" }
        if name.utf8.contains(UInt8(ascii: "=")) { return "its name has a \"=\"" }
        for text in [name, value] {
            if text.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F || $0 == 0x3B }) {
                return "its name or value has a semicolon or a control character"
            }
            let ends = [text.utf8.first, text.utf8.last].compactMap(\.self)
            if ends.contains(0x20) || ends.contains(0x09) {
                return "its name or value begins or ends with a space or tab"
            }
        }
        let isHost = domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(0x41...0x5A).contains($0) }
        if domain.isEmpty || domain.utf8.first == UInt8(ascii: ".") || !isHost { return "its domain is not a host" }
        return path.utf8.first == UInt8(ascii: "/") ? nil : "its path does not begin with a slash"
    }
}
