import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Address purposes` {
    /// The first and the last address of each block, what lies beside it, and what it is.
    static let blocks: [(first: String, last: String, AddressKind)] = [
        ("0.0.0.0", "0.255.255.255", .unspecified), ("1.0.0.0", "9.255.255.255", .public),
        ("10.0.0.0", "10.255.255.255", .private), ("11.0.0.0", "100.63.255.255", .public),
        ("100.64.0.0", "100.100.100.199", .shared), ("100.100.100.200", "100.100.100.200", .cloudMetadata),
        ("100.100.100.201", "100.127.255.255", .shared), ("100.128.0.0", "126.255.255.255", .public),
        ("127.0.0.0", "127.255.255.255", .loopback), ("128.0.0.0", "168.63.129.15", .public),
        ("168.63.129.16", "168.63.129.16", .cloudMetadata), ("168.63.129.17", "169.253.255.255", .public),
        ("169.254.0.0", "169.254.0.22", .linkLocal), ("169.254.0.23", "169.254.0.23", .cloudMetadata),
        ("169.254.42.42", "169.254.42.42", .cloudMetadata), ("169.254.169.253", "169.254.169.253", .linkLocal),
        ("169.254.169.254", "169.254.169.254", .cloudMetadata), ("169.254.169.255", "169.254.170.1", .linkLocal),
        ("169.254.170.2", "169.254.170.2", .cloudMetadata), ("169.254.170.23", "169.254.170.23", .cloudMetadata),
        ("169.254.170.24", "169.254.255.255", .linkLocal), ("169.255.0.0", "172.15.255.255", .public),
        ("172.16.0.0", "172.31.255.255", .private), ("172.32.0.0", "191.255.255.255", .public),
        ("192.0.0.0", "192.0.0.191", .protocolAssignment), ("192.0.0.192", "192.0.0.192", .cloudMetadata),
        ("192.0.0.193", "192.0.0.255", .protocolAssignment), ("192.0.1.0", "192.0.1.255", .public),
        ("192.0.2.0", "192.0.2.255", .documentation), ("192.0.3.0", "192.88.98.255", .public),
        ("192.88.99.0", "192.88.99.255", .reserved), ("192.88.100.0", "192.167.255.255", .public),
        ("192.168.0.0", "192.168.255.255", .private), ("192.169.0.0", "198.17.255.255", .public),
        ("198.18.0.0", "198.19.255.255", .benchmarking), ("198.20.0.0", "198.51.99.255", .public),
        ("198.51.100.0", "198.51.100.255", .documentation), ("198.51.101.0", "203.0.112.255", .public),
        ("203.0.113.0", "203.0.113.255", .documentation), ("203.0.114.0", "223.255.255.255", .public),
        ("224.0.0.0", "239.255.255.255", .multicast), ("240.0.0.0", "255.255.255.254", .reserved),
        ("255.255.255.255", "255.255.255.255", .broadcast),
        // IPv6
        ("::", "::", .unspecified), ("::1", "::1", .loopback), ("64:ff9a::", "64:ff9a::1", .reserved),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", .localTranslation),
        ("64:ff9b:2::", "64:ff9b:2::", .reserved),
        ("100::", "100::ffff:ffff:ffff:ffff", .discard), ("100:0:0:1::", "100:0:0:1:ffff::", .reserved),
        ("::ffff:0:1.2.3.4", "::ffff:0:1.2.3.4", .reserved), ("200::", "1fff::", .reserved),
        ("2000::", "2000:ffff::", .public), ("2001::", "2001:0:ffff::", .teredo),
        ("2001:1::1", "2001:1::3", .protocolAssignment), ("2001:2::", "2001:2:0:ffff::", .benchmarking),
        ("2001:3::", "2001:3:ffff::", .public), ("2001:4:112::", "2001:4:112:ffff::", .public),
        ("2001:10::", "2001:3f::", .protocolAssignment), ("2001:1ff::", "2001:1ff:ffff::", .protocolAssignment),
        ("2001:200::", "2001:db7:ffff::", .public), ("2001:db8::", "2001:db8:ffff::", .documentation),
        ("2001:db9::", "2001:ffff::", .public), ("2003::", "3ffe::", .public),
        ("2620:4f:8000::", "2620:4f:8000::1", .public),
        ("3fff::", "3fff:fff:ffff::", .documentation), ("3fff:1000::", "3fff:ffff::", .public),
        ("4000::", "5eff::", .reserved), ("5f00::", "5f00:ffff::", .protocolAssignment),
        ("6000::", "fbff::", .reserved),
        ("fc00::", "fd00:ec2::22", .uniqueLocal), ("fd00:ec2::23", "fd00:ec2::23", .cloudMetadata),
        ("fd00:ec2::254", "fd00:ec2::254", .cloudMetadata), ("fd20:ce::254", "fd20:ce::254", .cloudMetadata),
        ("fd00:42::42", "fd00:42::42", .cloudMetadata), ("fd20:ce::255", "fdff:ffff::", .uniqueLocal),
        ("fe00::", "fe7f::", .reserved), ("fe80::", "febf:ffff::", .linkLocal), ("fec0::", "feff:ffff::", .siteLocal),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", .multicast),
    ]

    @Test(arguments: blocks)
    func `a block of addresses is what IANA says of it, to its very ends`(
        first: String, last: String, kind: AddressKind
    ) throws {
        for text in [first, last] {
            let address = try #require(IPAddress(text))
            #expect(AddressPurpose(address).kind == kind, "\(text)")
            #expect(AddressPurpose(address).inner == nil)
        }
    }

    @Test func `the blocks of IPv4 leave nothing out`() throws {
        var next: UInt64 = 0
        let blocks = Self.blocks.filter { !$0.first.contains(":") }
        // Single addresses within a block of link-local ones are listed between its parts.
        for block in blocks {
            guard case .v4(let first)? = IPAddress(block.first), case .v4(let last)? = IPAddress(block.last) else {
                Issue.record("\(block)")
                continue
            }
            #expect(UInt64(first) == next || block.first.hasPrefix("169.254."), "\(block.first)")
            next = UInt64(last) + 1
        }
        #expect(next == 1 << 32)
    }

    static let inside: [(String, inner: String, AddressPurpose.Form, AddressKind)] = [
        ("::ffff:127.0.0.1", "127.0.0.1", .mapped, .loopback), ("::ffff:8.8.8.8", "8.8.8.8", .mapped, .public),
        ("::ffff:169.254.169.254", "169.254.169.254", .mapped, .cloudMetadata),
        ("::ffff:0.0.0.0", "0.0.0.0", .mapped, .unspecified), ("::ffff:a00:1", "10.0.0.1", .mapped, .private),
        ("64:ff9b::10.0.0.1", "10.0.0.1", .translated, .private), ("64:ff9b::8.8.8.8", "8.8.8.8", .translated, .public),
        ("64:ff9b::a9fe:a9fe", "169.254.169.254", .translated, .cloudMetadata),
        ("2002:7f00:1::", "127.0.0.1", .sixToFour, .loopback), ("2002:808:808::1", "8.8.8.8", .sixToFour, .public),
        ("2002:c0a8:101:1:2:3:4:5", "192.168.1.1", .sixToFour, .private),
        ("2002:a83f:8110::", "168.63.129.16", .sixToFour, .cloudMetadata),
        ("::127.0.0.1", "127.0.0.1", .compatible, .loopback), ("::2", "0.0.0.2", .compatible, .unspecified),
        // Nobody forwards to these any more.
        ("::8.8.8.8", "8.8.8.8", .compatible, .reserved),
    ]

    @Test(arguments: inside)
    func `an address with one of IPv4 inside is what that one is`(
        text: String, inner: String, form: AddressPurpose.Form, kind: AddressKind
    ) throws {
        let purpose = AddressPurpose(try #require(IPAddress(text)))
        #expect(purpose.inner == IPAddress(inner))
        #expect(purpose.form == form)
        #expect(purpose.kind == kind)
    }

    static let sentences = [
        ("127.0.0.1", "127.0.0.1 is a loopback address (RFC 1122)"), ("8.8.8.8", "8.8.8.8 is a public address"),
        (
            "169.254.169.254",
            "169.254.169.254 is a cloud's metadata address (AWS, Azure, Google Cloud and others)"
        ),
        ("fd00:ec2::254", "fd00:ec2::254 is a cloud's metadata address (AWS)"),
        (
            "::ffff:10.0.0.1", "::ffff:a00:1, 10.0.0.1 in the form of IPv6, is a private address (RFC 1918)"
        ),
        ("64:ff9b::10.0.0.1", "64:ff9b::a00:1, 10.0.0.1 behind NAT64, is a private address (RFC 1918)"),
        ("fec0::1", "fec0::1 is a site-local address (RFC 3879)"),
        ("4000::", "4000:: is a reserved address (RFC 4291)"),
    ]

    @Test(arguments: sentences)
    func `an address says what it is for, and who says so`(text: String, sentence: String) throws {
        #expect(AddressPurpose(try #require(IPAddress(text))).description == sentence)
    }

    @Test func `each kind of address has a name of its own`() {
        #expect(Set(AddressKind.allCases.map { "\($0)" }).count == AddressKind.allCases.count)
    }

    @Test func `a Unix socket is no address to judge`() {
        #expect(AddressPurpose(.unix("/s")) == nil)
        #expect(AddressPurpose(.v6(0xFE80 << 48, 1, port: 80, scope: 3))?.kind == .linkLocal)
    }
}
