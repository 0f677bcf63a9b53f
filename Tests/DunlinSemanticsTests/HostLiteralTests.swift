import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Host literals` {
    @Test(arguments: [
        ("127.0.0.1", HTTP.SocketAddress.v4(0x7F00_0001, port: 80)),
        ("0.0.0.0", .v4(0, port: 80)),
        ("255.255.255.255", .v4(0xFFFF_FFFF, port: 80)),
        ("::", .v6(0, 0, port: 80)),
        ("::1", .v6(0, 1, port: 80)),
        ("1::", .v6(0x0001_0000_0000_0000, 0, port: 80)),
        ("2001:db8::A:b", .v6(0x2001_0DB8_0000_0000, 0x000A_000B, port: 80)),
        ("1:2:3:4:5:6:7:8", .v6(0x0001_0002_0003_0004, 0x0005_0006_0007_0008, port: 80)),
        ("1:2:3:4:5:6:7::", .v6(0x0001_0002_0003_0004, 0x0005_0006_0007_0000, port: 80)),
        ("::2:3:4:5:6:7:8", .v6(0x0000_0002_0003_0004, 0x0005_0006_0007_0008, port: 80)),
        ("::ffff:192.0.2.1", .v6(0, 0x0000_FFFF_C000_0201, port: 80)),
        ("1:2:3:4:5:6:1.2.3.4", .v6(0x0001_0002_0003_0004, 0x0005_0006_0102_0304, port: 80)),
    ])
    func `host literals are addresses`(host: String, address: HTTP.SocketAddress) {
        #expect(HostLiteral.parse(host, port: 80) == address)
    }

    @Test(arguments: [
        "", "a", "example.com", "1", "127.1", "1.2.3", "1.2.3.4.5", "1.2.3.4.", ".1.2.3.4", "1..2.3", "01.2.3.4",
        "1.2.3.256", "1.2.3.-1", "0x1.2.3.4", "1.2.3.4 ", ":", ":::", "1:", ":1", "::1::", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "1:2:3:4::5:6:7:8", "12345::", "g::", "::1.2.3", "1.2.3.4::", "::1.2.3.4:5", "[::1]",
        "fe80::1%eth0", "fe80::1%1", "1:2:3:4:5:6:7:1.2.3.4", "::01.2.3.4", "1:::2", "::\u{FF11}",
    ])
    func `a text that is no address is no host literal`(host: String) {
        #expect(HostLiteral.parse(host, port: 80) == nil)
    }
}
