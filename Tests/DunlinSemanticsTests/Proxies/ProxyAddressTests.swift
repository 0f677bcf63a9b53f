import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Proxy addresses` {
    static let read: [(String, ProxyAddress.Scheme, host: String, port: UInt16, user: String?, password: String?)] = [
        ("http://proxy.test:3128", .http, "proxy.test", 3128, nil, nil),
        ("http://proxy.test", .http, "proxy.test", 80, nil, nil),
        ("https://proxy.test", .https, "proxy.test", 443, nil, nil),
        ("socks5://proxy.test", .socks5, "proxy.test", 1080, nil, nil),
        ("socks5h://proxy.test", .socks5h, "proxy.test", 1080, nil, nil),
        ("SOCKS5H://Proxy.TEST:9050/", .socks5h, "proxy.test", 9050, nil, nil),
        ("http://proxy.test:/", .http, "proxy.test", 80, nil, nil),
        ("proxy.test:3128", .http, "proxy.test", 3128, nil, nil), ("proxy.test", .http, "proxy.test", 80, nil, nil),
        ("localhost:3128", .http, "localhost", 3128, nil, nil), ("10.0.0.1:80", .http, "10.0.0.1", 80, nil, nil),
        ("u:p@proxy.test:3128/", .http, "proxy.test", 3128, "u", "p"),
        ("http://[::1]:3128", .http, "::1", 3128, nil, nil), ("[2001:DB8::0:1]", .http, "2001:db8::1", 80, nil, nil),
        ("http://u:p@[::1]", .http, "::1", 80, "u", "p"), ("http://u@a", .http, "a", 80, "u", ""),
        ("http://:p@a", .http, "a", 80, "", "p"), ("http://@a", .http, "a", 80, nil, nil),
        ("http://u:p:q@a", .http, "a", 80, "u", "p:q"),
        ("http://CORP%5Cu:p%40%2F%3A%25@a", .http, "a", 80, "CORP\\u", "p@/:%"),
        ("http://%C3%BC:%E2%82%AC@a", .http, "a", 80, "\u{FC}", "\u{20AC}"),
        ("http://b\u{FC}cher.test:1", .http, "xn--bcher-kva.test", 1, nil, nil),
        ("socks5://%00:%01@a", .socks5, "a", 1080, "\0", "\u{1}"),
    ]

    @Test(arguments: read)
    func `a proxy's URL says scheme, host, port and who asks`(
        text: String, scheme: ProxyAddress.Scheme, host: String, port: UInt16, user: String?, password: String?
    ) throws {
        let address = try ProxyAddress(text)
        #expect(address.scheme == scheme)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.credentials?.user == user)
        #expect(address.credentials?.password == password)
        let again = try ProxyAddress(address.description)
        #expect(again.credentials == nil)
        #expect((again.scheme, again.host, again.port) == (scheme, host, port))
    }

    private static let long = String(repeating: "x", count: 256)

    static let refused: [(String, ProxyAddressError)] = [
        ("", .emptyHost), ("http://", .emptyHost), ("http:///", .emptyHost), (":3128", .emptyHost),
        ("http://u:p@", .emptyHost), ("//proxy.test", .emptyHost), ("://proxy.test", .invalidScheme),
        ("u:pw://a", .invalidScheme), ("1http://a", .invalidScheme), (" http://a", .invalidScheme),
        ("a+b://a", .invalidScheme), ("socks4://a", .unsupportedScheme("socks4")),
        ("SOCKS://a", .unsupportedScheme("socks")), ("ftp://a", .unsupportedScheme("ftp")),
        ("http://a/proxy.pac", .trailingText(mayBePassword: false)),
        ("http://a//", .trailingText(mayBePassword: false)),
        ("http://a?b", .trailingText(mayBePassword: false)), ("http://a?", .trailingText(mayBePassword: false)),
        ("http://a#b", .trailingText(mayBePassword: false)), ("http://a/#", .trailingText(mayBePassword: false)),
        ("http:/a:1", .trailingText(mayBePassword: false)), ("http://u:p/w@a", .trailingText(mayBePassword: true)),
        ("http://u:p#w@a", .trailingText(mayBePassword: true)), ("http://u:p?w@a", .trailingText(mayBePassword: true)),
        ("http://u:p/@a", .trailingText(mayBePassword: true)),
        ("http://u:p@w@a", .invalidUserInfo), ("http://u:p%@a", .invalidUserInfo), ("http://u:%FF@a", .invalidUserInfo),
        ("http://u:p w@a", .invalidUserInfo), ("http://u:\u{FC}@a", .invalidUserInfo),
        ("http://u:p^@a", .invalidUserInfo),
        ("http://u:p[@a", .invalidUserInfo), ("a:b:c", .invalidAuthority(.invalidPort)),
        ("1.2.3.4:3128:u:p", .invalidAuthority(.invalidPort)), ("http://a:0", .invalidAuthority(.invalidPort)),
        ("http://a:65536", .invalidAuthority(.invalidPort)), ("http://a:+1", .invalidAuthority(.invalidPort)),
        ("http://a:1 ", .invalidAuthority(.invalidPort)), ("http://::1:3128", .emptyHost),
        ("http://[::1", .invalidAuthority(.invalidIPv6)), ("http://[1.2.3.4]:1", .invalidAuthority(.invalidIPv6)),
        ("http://[fe80::1%25eth0]:1", .invalidAuthority(.zoneIdentifier)),
        ("http://a b", .invalidAuthority(.invalidHost)),
        ("http://-\u{7F}", .invalidAuthority(.invalidHost)), ("http://127.1:80", .invalidAuthority(.invalidIPv4)),
        ("3128", .invalidAuthority(.invalidIPv4)), ("http://0x7f.1", .invalidAuthority(.invalidIPv4)),
        ("http://a\u{2100}b", .invalidAuthority(.invalidHost)),
        ("socks5://u@a", .unfitForSOCKS), ("socks5h://u:@a", .unfitForSOCKS), ("socks5://:p@a", .unfitForSOCKS),
        ("socks5://\(long):p@a", .unfitForSOCKS), ("socks5://u:\(long)@a", .unfitForSOCKS),
        ("http://u:%0A@a", .controlCharacter), ("https://%7F:p@a", .controlCharacter),
    ]

    @Test(arguments: refused)
    func `an error about a text that names no proxy says what to write`(text: String, error: ProxyAddressError) {
        #expect(throws: error) { try ProxyAddress(text) }
        #expect("\(error)".contains(" "))
    }

    /// All with a secret that must not be shown, whatever is wrong with them.
    static let secrets = [
        "geheim://a b", "http://u:geheim@a b", "http://u:geheim/@a", "http://u:gehe#im@a", "u:geheim",
        "http://u:geheim",
        "1.2.3.4:3128:u:geheim", "http://u:geheim@@a", "http://geheim@", "ftp://u:geheim@a", "http://geheim\u{2100}",
        "http://xn--geheim-\u{FC}", "socks5://geheim@a", "u:geheim://a", "http://[geheim]", "//u:geheim@a",
    ]

    @Test(arguments: secrets)
    func `an error about a proxy's URL shows nothing of it but its scheme`(text: String) {
        do throws(ProxyAddressError) {
            _ = try ProxyAddress(text)
            Issue.record("\(text) is no address")
        } catch {
            var shown = "\(error) \(String(reflecting: error))"
            dump(error, to: &shown)
            // What stands where a scheme does was meant as one.
            #expect(!shown.contains("geheim") || text.hasPrefix("geheim://"), "\(shown)")
        }
    }

    @Test func `no description of a proxy's address shows its credentials`() throws {
        let address = try ProxyAddress("http://somebody:geheim@a:1")
        var shown = "\(address) \(String(reflecting: address)) \(ProxyChoice.proxy(address))"
        shown += String(reflecting: address.credentials) + String(reflecting: ProxyChoice.proxy(address))
        dump(address, to: &shown)
        dump(address.credentials, to: &shown)
        #expect(!shown.contains("geheim") && !shown.contains("somebody"), "\(shown)")
        #expect(address.description == "http://a:1")
    }

    @Test func `proxies are equal only if their URLs and credentials are`() throws {
        let address = try ProxyAddress("http://u:p@a:80")
        #expect(try ProxyAddress("http://u:p@A") == address)
        for other in ["http://u:q@a", "http://v:p@a", "http://u@a", "http://a", "https://u:p@a:80", "http://u:p@b"] {
            #expect(try ProxyAddress(other) != address)
        }
        // The same to Unicode, and two passwords to a proxy.
        #expect(try ProxyAddress("http://u:%C3%BC@a") != ProxyAddress("http://u:u%CC%88@a"))
        #expect(ProxyCredentials(user: "ab", password: "c") != ProxyCredentials(user: "a", password: "bc"))
        #expect(Set([address, try ProxyAddress("http://u:p@A:80/")]).count == 1)
    }

    @Test func `all schemes but socks5 have the proxy resolve names`() {
        #expect(ProxyAddress.Scheme.allCases.filter { !$0.resolvesNames } == [.socks5])
    }
}
