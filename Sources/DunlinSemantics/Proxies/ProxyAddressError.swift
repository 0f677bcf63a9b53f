/// Why a text is no address of a proxy.
///
/// Nothing of the text is in it but the name of a scheme: where a URL is malformed nobody knows where its password
/// begins and ends.
package enum ProxyAddressError: Error, Sendable, Hashable {
    /// The text before `://` is no scheme's name.
    case invalidScheme
    /// The scheme is not supported, such as SOCKS4 or FTP. In lower case.
    case unsupportedScheme(String)
    case emptyHost
    /// There is a path, query or fragment, or a `/`, `?` or `#` in a password.
    case trailingText(mayBePassword: Bool)
    /// The user info has a character that has to be percent-encoded.
    case invalidUserInfo
    /// There is another error in host or port.
    case invalidAuthority(AddressError.Problem)
    /// SOCKS cannot send a user name or password that is empty or longer than 255 bytes.
    case unfitForSOCKS
    /// A user name or password for HTTP has a control character.
    case controlCharacter

    init(_ problem: AddressError.Problem) {
        self =
            switch problem {
            case .emptyHost: .emptyHost
            case .invalidUserInfo: .invalidUserInfo
            default: .invalidAuthority(problem.withoutText)
            }
    }
}

extension AddressError.Problem {
    /// The problem without the text in it: an invalid label may be a password without its `@`.
    fileprivate var withoutText: AddressError.Problem {
        if case .unencodableHost = self { .invalidHost } else { self }
    }
}

extension ProxyAddressError: CustomStringConvertible {
    /// Half a sentence that says what to write.
    package var description: String {
        switch self {
        case .invalidScheme: "the URL does not begin with a scheme; write http://HOST:PORT or socks5h://HOST:PORT"
        case .unsupportedScheme("socks"), .unsupportedScheme("socks4"), .unsupportedScheme("socks4a"):
            "only version 5 of SOCKS is supported; write socks5://HOST:PORT, or socks5h:// to have the proxy resolve "
                + "names"
        case .unsupportedScheme(let scheme):
            "proxies of scheme \(scheme) are not supported; write http://, https://, socks5:// or socks5h://"
        case .emptyHost: "no host is named; write http://HOST:PORT"
        case .trailingText(mayBePassword: true):
            "a /, ? or # stands before the @; in a user name or password write %2F, %3F or %23 for it"
        case .trailingText(mayBePassword: false):
            "something follows host and port; a proxy has no path, query or fragment"
        case .invalidUserInfo:
            "user name or password has a character that must be percent-encoded, such as %40 for @ and %25 for %"
        case .invalidAuthority(.invalidPort): "the port is not a number from 1 to 65535; write http://HOST:PORT"
        case .invalidAuthority(.invalidIPv6), .invalidAuthority(.zoneIdentifier):
            "an IPv6 address must be in brackets and have no zone; write http://[2001:db8::1]:PORT"
        case .invalidAuthority(let problem): "\(problem); write http://HOST:PORT"
        case .unfitForSOCKS: "SOCKS needs both a user name and a password, each of at most 255 bytes, or neither"
        case .controlCharacter: "user names and passwords may not have control characters"
        }
    }
}
