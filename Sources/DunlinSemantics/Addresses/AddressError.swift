package import DunlinTypes

/// The error for a text that is no address Dunlin can request.
public struct AddressError: Error, Sendable, Hashable {
    public enum Problem: Error, Sendable, Hashable {
        /// A relative reference, without an address to resolve it against.
        case notAbsolute
        /// Something other than `http` or `https` before the first colon.
        case unsupportedScheme
        /// No `//` after the scheme, or nothing between it and the path.
        case emptyHost
        /// A character no host has, an empty label, a label over 63 bytes or a name over 253.
        case invalidHost
        /// A host beyond ASCII, percent-encoded or in Punycode that has no valid ASCII form.
        case unencodableHost(IDNAError)
        /// A host that ends in a number and is not four decimal numbers: `127.1`, `0x7f.1`, `010.0.0.1`.
        case invalidIPv4
        /// Brackets around something that is not an IPv6 address.
        case invalidIPv6
        /// An IPv6 zone (`fe80::1%eth0`): it means something on one machine only, and no URL syntax for it stands.
        case zoneIdentifier
        /// Not a decimal number from 1 to 65535.
        case invalidPort
        /// A character in the user info that has to be percent-encoded, or octets that are not UTF-8.
        case invalidUserInfo
        /// A space, control character, backslash or non-ASCII character in path, query or fragment.
        case forbiddenCharacter(Unicode.Scalar)
        /// A `%` without two hexadecimal digits after it.
        case invalidPercentEncoding
        /// A base URL with a query or fragment, which every resolved address would lose.
        case baseWithQueryOrFragment
    }

    public let problem: Problem
    /// The offending text, without user info and cut to a bounded length.
    public let text: String

    /// Ends of `text` differ by where parsing stopped: once the authority is known, only its own user info is hidden;
    /// before that, a password with a raw `/`, `?` or `#` may reach past it, so all up to the last `@` is.
    init(_ problem: Problem, in text: String, authority: Range<Int>? = nil) {
        self.problem = problem
        self.text = WebAddress.maskingValues(of: Self.redacted(text, authority: authority))
    }

    private init(_ problem: Problem, shown text: String) {
        (self.problem, self.text) = (problem, text)
    }

    /// The error, which also hides what a session says is secret.
    package func hiding(_ secret: HTTP.SecretFields) -> AddressError {
        AddressError(problem, shown: WebAddress.maskingValues(of: text, secret))
    }

    private static func redacted(_ text: String, authority: Range<Int>?) -> String {
        let bytes = Array(text.utf8)
        let start = authority?.lowerBound ?? afterSlashes(bytes)
        let end = authority?.upperBound ?? bytes.count
        guard let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return shortened(text) }
        return shortened(text.bytes(in: 0..<start) + "***" + text.bytes(in: at..<bytes.count))
    }

    private static func afterSlashes(_ bytes: [UInt8]) -> Int {
        let slash = UInt8(ascii: "/")
        guard let first = bytes.firstIndex(of: slash), first + 1 < bytes.count, bytes[first + 1] == slash,
            !bytes[..<first].contains(UInt8(ascii: "@"))
        else { return 0 }
        return first + 2
    }

    private static func shortened(_ text: String) -> String {
        let limit = 256
        return text.utf8.count <= limit ? text : String(text.unicodeScalars.prefix(limit)) + "…"
    }
}

extension AddressError: CustomStringConvertible {
    /// One sentence. The text is quoted, with control characters escaped and invisible ones with an effect removed, as
    /// descriptions end up in logs.
    public var description: String { "\(VisibleText.of(String(reflecting: text))): \(problem)" }
}

extension AddressError.Problem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAbsolute: "a URL without a base must begin with http:// or https://"
        case .unsupportedScheme: "the scheme is neither http nor https"
        case .emptyHost: "the URL names no host"
        case .invalidHost: "the host is not a valid name"
        case .unencodableHost(let error): "the host has no ASCII form: \(error)"
        case .invalidIPv4: "the host ends in a number but is not an IPv4 address of four decimal numbers"
        case .invalidIPv6: "the host is not a valid IPv6 address"
        case .zoneIdentifier: "IPv6 zone identifiers are not supported in URLs"
        case .invalidPort: "the port is not a number from 1 to 65535"
        case .invalidUserInfo: "the user info has characters that must be percent-encoded"
        case .forbiddenCharacter(let scalar):
            "\(scalar.codePoint) is not allowed in a URL; percent-encode it"
        case .invalidPercentEncoding: "a % is not followed by two hexadecimal digits; write a literal % as %25"
        case .baseWithQueryOrFragment: "a base URL may not have a query or a fragment; leave them out"
        }
    }
}
