package import DunlinTypes

/// Where a proxy is and how it is spoken to, from a URL such as `http://user:password@proxy.test:3128`.
///
/// Rules:
/// 1. The schemes are `http`, `https`, `socks5` and `socks5h`. A text without `://` is taken for `http`, as all
///    programs do that read the same variables.
/// 2. A port that is missing is the scheme's: 80, 443, and 1080 for SOCKS, which is what the URL of an http proxy says
///    everywhere else. (curl takes 1080 for http proxies too, from a time before they had URLs.)
/// 3. User info is percent-decoded and kept apart. A user without a password has an empty one.
/// 4. The host is brought into the form that `HTTP.Origin.host` has. A proxy has no path, query or fragment; one slash
///    at the end is let through.
/// 5. Credentials that the scheme cannot carry are refused here, and not when the first request needs them.
package struct ProxyAddress: Sendable {
    package enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP: by CONNECT or in absolute form.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS5. The origin's name is resolved here, and the proxy gets an address.
        case socks5
        /// SOCKS5. The proxy gets the origin's name.
        case socks5h

        package var defaultPort: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5, .socks5h: 1080
            }
        }

        package var isSOCKS: Bool { self == .socks5 || self == .socks5h }

        /// Whether the proxy resolves the origin's name, so that its address is unknown here.
        package var resolvesNames: Bool { self != .socks5 }
    }

    package let scheme: Scheme
    /// The host in lower-case ASCII; an IPv6 address without its brackets.
    package let host: String
    package let port: UInt16
    /// The credentials; nil if user info is missing or empty.
    package let credentials: ProxyCredentials?
    /// The fields of CONNECT beside host and port, from the settings; never part of a text.
    package var connectFields = Fields()

    package init(_ text: String) throws(ProxyAddressError) {
        let scheme = try Self.scheme(of: text)
        // Only the part between the slashes and the next delimiter is the authority.
        let url = scheme == nil ? "http://" + text : text
        let bytes = url.utf8.span
        let parts = AddressParts(bytes)
        guard let range = parts.authority, !range.isEmpty else { throw .emptyHost }
        let isWhole = parts.path.count <= 1 && parts.query == nil && parts.fragment == nil
        // The delimiter may be part of an unencoded password: then the part before it is no host.
        guard isWhole else { throw .trailingText(mayBePassword: parts.hasSignLater(in: bytes)) }
        // The first @ ends the user info; another one was meant to be part of it.
        guard range.count(where: { bytes[$0] == UInt8(ascii: "@") }) <= 1 else { throw .invalidUserInfo }
        let authority: Authority
        do throws(AddressError) {
            authority = try Authority(of: url, bytes, in: range)
        } catch {
            throw ProxyAddressError(error.problem)
        }
        self.scheme = scheme ?? .http
        host = authority.host
        port = authority.port ?? self.scheme.defaultPort
        credentials = authority.userInfo.map { ProxyCredentials(user: $0.user, password: $0.password ?? "") }
        if let credentials, let problem = Self.problem(with: credentials, over: self.scheme) { throw problem }
    }

    /// Returns the scheme; nil if the text names none.
    private static func scheme(of text: String) throws(ProxyAddressError) -> Scheme? {
        guard let sign = text.utf8.firstRange(of: "://".utf8) else { return nil }
        let name = text[..<sign.lowerBound]
        // An invalid scheme may be a user's name or a password, so it is not shown.
        guard name.utf8.count <= 16, name.utf8.first.map(isLetter) == true,
            name.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) })
        else { throw .invalidScheme }
        guard let scheme = Scheme(rawValue: name.lowercased()) else { throw .unsupportedScheme(name.lowercased()) }
        return scheme
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func problem(with credentials: ProxyCredentials, over scheme: Scheme) -> ProxyAddressError? {
        let (user, password) = (credentials.user, credentials.password)
        // RFC 1929 §2: the length of each is one byte, and neither may be empty.
        let lengths = 1...255
        if scheme.isSOCKS {
            return lengths.contains(user.utf8.count) && lengths.contains(password.utf8.count) ? nil : .unfitForSOCKS
        }
        return Authorization.hasControls(user) || Authorization.hasControls(password) ? .controlCharacter : nil
    }
}

extension ProxyAddress: Hashable {
    /// Compares addresses, including fields: a tunnel requested with other fields is another tunnel.
    package static func == (left: ProxyAddress, right: ProxyAddress) -> Bool {
        left.scheme == right.scheme && left.host == right.host && left.port == right.port
            && left.credentials == right.credentials && left.connectFields == right.connectFields
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(port)
        hasher.combine(credentials)
    }
}

extension ProxyAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user info, and always with a port.
    package var description: String {
        let literal = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(scheme.rawValue)://\(literal):\(port)"
    }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}

extension AddressParts {
    /// Whether there is an `@` after the authority.
    fileprivate func hasSignLater(in bytes: Span<UInt8>) -> Bool {
        (path.lowerBound..<bytes.count).contains { bytes[$0] == UInt8(ascii: "@") }
    }
}
