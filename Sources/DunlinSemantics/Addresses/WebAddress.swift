public import DunlinTypes

/// An http or https URL, split by RFC 3986 into what a client needs.
///
/// Nothing is trimmed or repaired: a text with a space, a control character, a backslash or a non-ASCII character after
/// the host is refused, and so is a `%` without two hexadecimal digits. Percent-encoding is kept as written. Three
/// things are brought into one form: the host (see `HostName`); dot segments, which are removed from every path as
/// resolving demands (§5.2.4); and brackets, braces, quotes and the like in path and query, which people write and RFC
/// 3986 has no place for: they are percent-encoded. Zone identifiers in IPv6 literals are refused.
public struct WebAddress: Sendable, Hashable {
    /// The part before the `@`, percent-decoded. A secret: no description shows it.
    public struct UserInfo: Sendable, Hashable {
        public let user: String
        /// The password; nil if there is no colon, empty if nothing follows it.
        public let password: String?

        public static func == (left: UserInfo, right: UserInfo) -> Bool {
            left.user.hasSameBytes(as: right.user) && left.password.hasSameBytes(as: right.password)
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: user) }
    }

    public let origin: HTTP.Origin
    public let userInfo: UserInfo?
    /// The request target in origin-form: path and query.
    public let target: String
    /// The fragment, which is never sent.
    public let fragment: String?
    /// The length of the path within `target`, in UTF-8.
    let pathLength: Int
    /// The length of the path up to and including its last slash, in UTF-8: relative paths are appended there.
    let directoryLength: Int

    /// The path as written, but encoded and without dot segments; `/` if empty.
    public var path: String { target.bytes(in: 0..<pathLength) }

    /// The query as written, but encoded, and without its `?`.
    public var query: String? {
        let length = target.utf8.count
        return pathLength < length ? target.bytes(in: pathLength + 1..<length) : nil
    }

    /// Splits an absolute URL.
    public init(_ text: String) throws(AddressError) {
        let bytes = text.utf8.span
        let parts = AddressParts(bytes)
        guard parts.scheme != nil else { throw AddressError(.notAbsolute, in: text) }
        try self.init(absolute: parts, of: text, bytes)
    }

    /// Reads a base URL: its path gets a final slash, so that `users` is appended and does not replace the last
    /// segment. A query or a fragment is refused, as no resolved address keeps them.
    public init(base text: String) throws(AddressError) {
        let address = try WebAddress(text)
        guard address.query == nil, address.fragment == nil else {
            throw AddressError(.baseWithQueryOrFragment, in: address.description)
        }
        let target = address.directoryLength == address.pathLength ? address.target : address.target + "/"
        self.init(origin: address.origin, userInfo: address.userInfo, target: target, fragment: nil)
    }

    init(absolute parts: AddressParts, of text: String, _ bytes: Span<UInt8>) throws(AddressError) {
        guard let range = parts.scheme, let scheme = Self.scheme(bytes, in: range) else {
            throw AddressError(.unsupportedScheme, in: text)
        }
        let authority = try Authority(of: text, bytes, in: parts.authority)
        try self.init(
            origin: HTTP.Origin(scheme: scheme, checkedHost: authority.host, port: authority.port),
            userInfo: authority.userInfo, tail: parts, of: text, bytes)
    }

    /// Creates the address at this authority, with path, query and fragment of the text.
    init(
        origin: HTTP.Origin, userInfo: UserInfo?, tail parts: AddressParts, of text: String, _ bytes: Span<UInt8>
    ) throws(AddressError) {
        if let problem = Self.problem(in: bytes, from: parts.path.lowerBound) {
            throw AddressError(problem, in: text, authority: parts.authority ?? 0..<0)
        }
        let written = parts.path.isEmpty ? "/" : PercentEncoding.encoded(text, in: parts.path)
        let path = DotSegments.removed(from: written)
        let target = parts.query.map { path + "?" + PercentEncoding.encoded(text, in: $0) } ?? path
        self.init(origin: origin, userInfo: userInfo, target: target, fragment: parts.fragment.map(text.bytes(in:)))
    }

    /// Creates the address of a request. `target` is in origin form.
    public init(origin: HTTP.Origin, target: String, fragment: String? = nil) {
        self.init(origin: origin.unrouted, userInfo: nil, target: target, fragment: fragment)
    }

    init(origin: HTTP.Origin, userInfo: UserInfo?, target: String, fragment: String?) {
        self.origin = origin
        self.userInfo = userInfo
        self.target = target
        self.fragment = fragment
        let bytes = target.utf8.span
        var path = 0
        var directory = 0
        while path < bytes.count, bytes[path] != UInt8(ascii: "?") {
            path += 1
            if bytes[path - 1] == UInt8(ascii: "/") { directory = path }
        }
        pathLength = path
        directoryLength = directory
    }

    private static func scheme(_ bytes: Span<UInt8>, in range: Range<Int>) -> HTTP.Origin.Scheme? {
        func isSpelled(_ name: StaticString) -> Bool {
            name.utf8CodeUnitCount == range.count
                && range.allSatisfy { bytes[$0] | 0x20 == name.utf8Start[$0 - range.lowerBound] }
        }
        return isSpelled("http") ? .http : isSpelled("https") ? .https : nil
    }

    /// Returns the problem that keeps path, query or fragment from being sent as written; nil if there is none.
    static func problem(in bytes: Span<UInt8>, from start: Int) -> AddressError.Problem? {
        for index in start..<bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "%"):
                guard PercentEncoding.octet(bytes, at: index, before: bytes.count) != nil else {
                    return .invalidPercentEncoding
                }
            case ...0x20, UInt8(ascii: "\\"), 0x7F...:
                return .forbiddenCharacter(PercentEncoding.scalar(bytes, at: index))
            default: continue
            }
        }
        return nil
    }
}

extension WebAddress: CustomStringConvertible {
    /// The URL without user info.
    public var description: String { "\(origin)\(target)" + (fragment.map { "#\($0)" } ?? "") }
}

extension WebAddress.UserInfo: CustomStringConvertible, CustomReflectable {
    public var description: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
