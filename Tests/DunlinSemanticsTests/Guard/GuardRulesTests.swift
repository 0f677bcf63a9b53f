import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Guard rules` {
    private static func dialled(_ text: String) throws -> HTTP.SocketAddress {
        try #require(HostLiteral.parse(text, port: 443))
    }

    private static func origin(_ text: String) throws -> HTTP.Origin { try WebAddress(text).origin }

    @Test(arguments: AddressPurposeTests.blocks)
    func `the public internet is all that is public, and nothing else`(
        first: String, last: String, kind: AddressKind
    ) throws {
        for text in [first, last] {
            let refusal = GuardRules.publicInternet.refusal(dialling: try Self.dialled(text))
            #expect((refusal == nil) == (kind == .public), "\(text)")
            if let refusal { #expect("\(refusal)".contains("\(kind)")) }
            #expect(GuardRules.nothing.refusal(dialling: try Self.dialled(text)) != nil)
        }
    }

    typealias AddressPurposeTests = `Address purposes`

    @Test(arguments: AddressPurposeTests.inside)
    func `an address that the guard refuses is refused in each form of IPv6 that contains it`(
        text: String, inner: String, form: AddressPurpose.Form, kind: AddressKind
    ) throws {
        let refusal = GuardRules.publicInternet.refusal(dialling: try Self.dialled(text))
        #expect((refusal == nil) == (kind == .public))
        var rules = GuardRules.publicInternet
        rules.deniedRanges = [try AddressRange("\(inner)/32")]
        #expect(rules.refusal(dialling: try Self.dialled(text)) != nil)
    }

    /// Texts that some parser somewhere takes for 127.0.0.1 or another address of this machine.
    static let odd: [(String, dialled: String?)] = [
        ("http://0x7f.1/", nil), ("http://0x7f000001/", nil), ("http://2130706433/", nil), ("http://127.1/", nil),
        ("http://127.0.1/", nil), ("http://0177.0.0.1/", nil), ("http://017700000001/", nil), ("http://00.0.0.0/", nil),
        ("http://0/", nil), ("http://127.0.0.1./", nil), ("http://127.0.0.0x1/", nil), ("http://1.1.1.1.1/", nil),
        ("http://256.0.0.1/", nil), ("http://127.0.0.1%00.a/", nil), ("http://[::1%25lo]/", nil),
        ("http://[::ffff:127.1]/", nil), ("http://127。0。0。1。/", nil), ("http://[::1].a/", nil),
        ("http://127.0.0.1:80@a.test\\@b/", nil), ("http://a.test\\@127.0.0.1/", nil),
        ("http://127.0.0.1/", "127.0.0.1"), ("http://127.0.0.1:8080/", "127.0.0.1"),
        ("http://a@127.0.0.1/", "127.0.0.1"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1"), ("http://127%2E0.0.1/", "127.0.0.1"),
        // Full-width digits and the ideographic full stop.
        ("http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/", "127.0.0.1"),
        ("http://127\u{3002}0\u{3002}0\u{3002}1/", "127.0.0.1"),
        ("http://\u{2460}\u{2461}\u{2466}.0.0.1/", "127.0.0.1"), ("http://0.0.0.0/", "0.0.0.0"), ("http://[::]/", "::"),
        ("http://[::1]/", "::1"), ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1"),
        ("http://[::ffff:7f00:1]/", "::ffff:127.0.0.1"), ("http://[0000::FFFF:7F00:0001]/", "::ffff:127.0.0.1"),
        ("http://[64:ff9b::127.0.0.1]/", "64:ff9b::127.0.0.1"), ("http://[2002:7f00:1::]/", "2002:7f00:1::"),
    ]

    @Test(arguments: odd)
    func `odd forms of addresses are no hosts, or are the addresses that they are`(
        text: String, dialled: String?
    ) throws {
        guard let dialled else {
            #expect(throws: AddressError.self) { try WebAddress(text) }
            return
        }
        let origin = try Self.origin(text)
        #expect(IPAddress(origin.host) == IPAddress(dialled))
        #expect(GuardRules.publicInternet.refusal(of: origin) != nil)
        #expect(GuardRules.publicInternet.refusal(dialling: try Self.dialled(dialled)) != nil)
    }

    @Test(arguments: ["localhost", "localhost.", "a.localhost", "127.0.0.1.nip.test", "rebinding.test", "0x7f.a"])
    func `a host name passes the guard, and its addresses are judged each time`(host: String) throws {
        let rules = GuardRules.publicInternet
        #expect(rules.refusal(of: HTTP.Origin(scheme: .http, host: host)) == nil)
        #expect(rules.refusal(dialling: .v4(0x0808_0808, port: 80)) == nil)
        #expect(rules.refusal(dialling: .v4(0x7F00_0001, port: 80)) != nil)
    }

    private static func ranges(_ texts: [String]) throws -> Set<AddressRange> {
        Set(try texts.map { try AddressRange($0) })
    }

    static let lists: [(allowed: [String], denied: [String], address: String, isAllowed: Bool)] = [
        (["10.0.0.0/8"], [], "10.1.2.3", true), (["10.0.0.0/8"], [], "192.168.0.1", false),
        (["10.0.0.0/8"], [], "8.8.8.8", true), ([], ["8.8.8.0/24"], "8.8.8.8", false),
        ([], ["8.8.8.0/24"], "8.8.9.8", true),
        (["10.0.0.0/8"], ["10.1.0.0/16"], "10.1.2.3", false), (["10.1.2.3"], ["10.0.0.0/8"], "10.1.2.3", false),
        // The kernel takes the one for the other.
        (["10.0.0.0/8"], [], "::ffff:10.1.2.3", true), ([], ["8.8.8.8"], "::ffff:8.8.8.8", false),
        // Whoever forwards may be in a network with another 10.1.2.3.
        (["10.0.0.0/8"], [], "64:ff9b::10.1.2.3", false), (["10.0.0.0/8"], [], "2002:a01:203::", false),
        (["64:ff9b::/96"], [], "64:ff9b::10.1.2.3", true),
        (["64:ff9b::/96"], ["10.0.0.0/8"], "64:ff9b::10.1.2.3", false),
        ([], ["8.8.8.8"], "2002:808:808::", false), (["64:ff9b:1::/48"], [], "64:ff9b:1::1", true),
        // A range around a metadata address does not allow it.
        (["169.254.0.0/16"], [], "169.254.1.1", true), (["169.254.0.0/16"], [], "169.254.169.254", false),
        (["0.0.0.0/0", "::/0"], [], "fd00:ec2::254", false), (["169.254.169.254"], [], "169.254.169.254", true),
        (["fd00:ec2::254/128"], [], "fd00:ec2::254", true), (["169.254.169.254"], [], "::ffff:169.254.169.254", true),
        (["0.0.0.0/0"], [], "::ffff:169.254.169.254", false), (["::/0"], [], "2001:db8::1", true),
    ]

    @Test(arguments: lists)
    func `denied addresses are refused, allowed ones are not, and the kind decides for others`(
        allowed: [String], denied: [String], address: String, isAllowed: Bool
    ) throws {
        var rules = GuardRules.publicInternet
        rules.allowedRanges = try Self.ranges(allowed)
        rules.deniedRanges = try Self.ranges(denied)
        #expect((rules.refusal(dialling: try Self.dialled(address)) == nil) == isAllowed)
    }

    static let requests: [(String, GuardRefusal?)] = [
        ("https://a.test/", nil), ("https://b.a.test:8443/", nil), ("http://a.test/", .scheme(.http)),
        ("https://a.test:22/", .port(22)), ("https://other.test/", .unlistedHost("other.test")),
        ("https://10.0.0.1/", .unlistedHost("10.0.0.1")), ("https://xa.test/", .unlistedHost("xa.test")),
    ]

    @Test(arguments: requests)
    func `a request is judged by scheme, port and name before the name is looked up`(
        text: String, refusal: GuardRefusal?
    ) throws {
        var rules = GuardRules.publicInternet
        rules.schemes = [.https]
        rules.ports = [443, 8443]
        rules.allowedHosts = [try NamePattern("a.test"), try NamePattern("*.a.test")]
        #expect(rules.refusal(of: try Self.origin(text)) == refusal)
    }

    @Test func `a host that is denied is refused, whatever allows it`() throws {
        var rules = GuardRules.publicInternet
        let pattern = try NamePattern("*.a.test")
        rules.deniedHosts = [pattern]
        rules.allowedHosts = [pattern]
        #expect(rules.refusal(of: try Self.origin("http://B.a.test./")) == .deniedHost("b.a.test.", pattern))
        #expect(rules.refusal(of: try Self.origin("http://a.test/")) == .unlistedHost("a.test"))
    }

    @Test func `a Unix socket is refused unless they are allowed`() {
        var rules = GuardRules(allowing: Set(AddressKind.allCases))
        #expect(rules.refusal(dialling: .unix("/s")) == .unixSocket)
        #expect(rules.refusal(diallingProxyAt: .unix("/s")) == .unixSocket)
        rules.allowsUnixSockets = true
        #expect(rules.refusal(dialling: .unix("/s")) == nil)
    }

    static let proxied: [(proxy: String, host: String, isAllowed: Bool)] = [
        ("http://trusted.test:3128", "a.test", true), ("https://trusted.test:3128", "a.test", true),
        ("socks5h://u:p@trusted.test:3128", "a.test", true), ("http://trusted.test:3129", "a.test", false),
        ("http://other.test:3128", "a.test", false), ("socks5h://other.test", "a.test", false),
        ("socks5://other.test", "a.test", true), ("http://other.test", "8.8.8.8", true),
        ("http://[::1]:1", "a.test", true),
    ]

    @Test(arguments: proxied)
    func `a name that a proxy resolves is refused unless the proxy is trusted to judge`(
        proxy: String, host: String, isAllowed: Bool
    ) throws {
        var rules = GuardRules.publicInternet
        rules.trustedProxies = [
            .init(try ProxyAddress("http://u:p@trusted.test:3128")), .init(try ProxyAddress("http://[::1]:1")),
        ]
        let refusal = rules.refusal(of: host, through: try ProxyAddress(proxy))
        #expect((refusal == nil) == isAllowed)
        #expect(!"\(rules) \(refusal.map { "\($0)" } ?? "")".contains("u:p"))
    }

    @Test func `a proxy's own address is judged by a list of its own, and then as any other`() throws {
        var rules = GuardRules.publicInternet
        rules.proxyRanges = [try AddressRange("10.1.0.0/16")]
        rules.deniedRanges = [try AddressRange("10.0.0.0/8"), try AddressRange("9.0.0.0/8")]
        for (text, isAllowed) in [("10.1.2.3", true), ("10.2.0.1", false), ("9.9.9.9", false), ("8.8.8.8", true)] {
            #expect((rules.refusal(diallingProxyAt: try Self.dialled(text)) == nil) == isAllowed, "\(text)")
        }
        #expect(rules.refusal(dialling: try Self.dialled("10.1.2.3")) != nil)
    }

    @Test func `rules that count besides must allow the same, by whatever way`() throws {
        let usual = GuardRules(allowing: Set(AddressKind.allCases))
        var rules = usual
        (rules.allowsUnixSockets, rules.proxyRanges) = (true, try Self.ranges(["0.0.0.0/0"]))
        let proxy = try ProxyAddress("http://127.0.0.1:3128")
        rules.trustedProxies = [.init(proxy)]
        rules.other = .rules(.publicInternet)
        let (local, name) = (try Self.dialled("127.0.0.1"), try Self.origin("http://a.test/"))
        let unix = HTTP.SocketAddress.unix("/run/a")
        #expect(rules.refusal(of: try Self.origin("http://127.0.0.1/")) != nil)
        #expect(rules.refusal(dialling: local) != nil && rules.refusal(dialling: unix) != nil)
        #expect(rules.refusal(diallingProxyAt: local) != nil && rules.refusal(diallingProxyAt: unix) != nil)
        #expect(rules.refusal(of: "a.test", through: proxy) != nil && rules.refusal(of: name, through: proxy) != nil)
        #expect(rules.description.hasSuffix("; and besides (a public address)"))
        var besides = rules
        besides.other = .none
        rules.other = .rules(besides)
        #expect(rules.refusal(dialling: local) == nil && rules.refusal(dialling: unix) == nil)
        #expect(rules.refusal(diallingProxyAt: local) == nil && rules.refusal(diallingProxyAt: unix) == nil)
        #expect(rules.refusal(of: name, through: proxy) == nil)
    }

    @Test func `rules are equal if they list the same, in whatever order`() throws {
        var one = GuardRules.publicInternet
        one.allowedRanges = try Self.ranges(["10.0.0.0/8", "fd00::/8"])
        var other = GuardRules.publicInternet
        other.allowedRanges = try Self.ranges(["FD00::/8", "::ffff:10.0.0.0/104"])
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        #expect(one != .publicInternet)
        other.trustedProxies = [.init(try ProxyAddress("http://a"))]
        #expect(one != other)
    }

    @Test func `rules say what they allow`() throws {
        #expect(GuardRules.publicInternet.description == "a public address")
        #expect(GuardRules.nothing.description == "no kind of address")
        var rules = GuardRules.publicInternet
        rules.allowedRanges = try Self.ranges(["fd00::/8", "10.0.0.0/8"])
        rules.schemes = [.https]
        rules.ports = [443, 80]
        rules.deniedHosts = [try NamePattern("*.a.test")]
        rules.trustedProxies = [.init(try ProxyAddress("http://u:geheim@[::1]:3128"))]
        let text = "a public address; also 10.0.0.0/8, fd00::/8; only https; only ports 80, 443; "
        #expect(rules.description == text + "not hosts *.a.test; names through [::1]:3128")
    }

    @Test func `a refusal names the rule and the kind of the address`() throws {
        var rules = GuardRules.publicInternet
        rules.deniedRanges = [try AddressRange("8.8.8.0/24")]
        let refusals = ["169.254.169.254", "::ffff:8.8.8.8"].compactMap { text in
            HostLiteral.parse(text, port: 80).flatMap { rules.refusal(dialling: $0) }
        }
        #expect(
            refusals.map { "\($0)" } == [
                "refused by the guard: 169.254.169.254 is a cloud's metadata address "
                    + "(AWS, Azure, Google Cloud and others); `allowedAddresses` can allow it",
                "refused by the guard: ::ffff:808:808, 8.8.8.8 in the form of IPv6, is a public address, "
                    + "and 8.8.8.0/24 in `deniedAddresses` denies it",
            ])
    }
}
