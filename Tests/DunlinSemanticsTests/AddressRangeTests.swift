import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Address ranges` {
    static let members: [(String, inside: [String], outside: [String])] = [
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0", "::a00:0"]),
        ("10.0.0.0/8", ["::ffff:10.1.2.3"], ["::ffff:11.1.2.3", "64:ff9b::a00:1"]),
        ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0", "192.0.2.2"]),
        ("192.0.2.0/31", ["192.0.2.0", "192.0.2.1"], ["192.0.2.2"]),
        ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"], ["::", "::1", "2001:db8::"]),
        ("fd00::/8", ["fd00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], ["fc00::", "fe00::", "253.0.0.0"]),
        ("2001:db8::8000/113", ["2001:db8::8000", "2001:db8::ffff"], ["2001:db8::7fff", "2001:db8::1:0"]),
        ("::1", ["::1"], ["::", "::2", "0.0.0.1"]),
        ("::/0", ["::", "::1.2.3.4", "ffff::"], ["1.2.3.4", "0.0.0.0"]),
        ("::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:10.1.2.3"], ["11.1.2.3", "::a01:203"]),
        ("::ffff:0.0.0.0/96", ["::ffff:1.2.3.4", "1.2.3.4"], ["::", "::1:ffff:1.2.3.4"]),
        ("::/90", ["::", "::3f:ffff:ffff"], ["::40:0:0", "1.2.3.4", "::ffff:1.2.3.4"]),
    ]

    @Test(arguments: members)
    func `a range has the addresses that begin with its bits`(
        text: String, inside: [String], outside: [String]
    ) throws {
        let range = try AddressRange(text)
        for address in inside { #expect(range.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!range.contains(try #require(IPAddress(address))), "\(address)") }
        #expect(try AddressRange(range.description) == range)
    }

    @Test func `a range of either family may have any length`() throws {
        for length in 0...32 {
            #expect(try AddressRange("0.0.0.0/\(length)").contains(.v4(length == 0 ? .max : .max >> UInt32(length))))
        }
        for length in 0...128 {
            let last = length == 128 ? 0 : UInt128.max >> UInt128(length)
            let range = try AddressRange("::/\(length)")
            #expect(range.contains(.v6(last)))
            if length > 0 { #expect(!range.contains(.v6(last + 1))) }
        }
    }

    static let refused: [(String, AddressRange.Problem)] = [
        ("", .notAnAddress), ("/8", .notAnAddress), ("10/8", .notAnAddress), ("10.0.0/8", .notAnAddress),
        ("010.0.0.0/8", .notAnAddress), ("0xa.0.0.0/8", .notAnAddress), ("[fd00::]/8", .notAnAddress),
        ("fe80::%1/10", .notAnAddress), (" 10.0.0.0/8", .notAnAddress), ("example.com/8", .notAnAddress),
        ("10.0.0.0/", .invalidLength), ("10.0.0.0/33", .invalidLength), ("fd00::/129", .invalidLength),
        ("10.0.0.0/-1", .invalidLength), ("10.0.0.0/+8", .invalidLength), ("10.0.0.0/08", .invalidLength),
        ("10.0.0.0/8 ", .invalidLength), ("10.0.0.0/8/8", .invalidLength), ("10.0.0.0/255.0.0.0", .invalidLength),
        ("10.0.0.0/99999999999999999999", .invalidLength), ("10.0.0.0/\u{0668}", .invalidLength),
        ("10.1.2.3/8", .hostBits(meant: "10.0.0.0/8")), ("fd00::1/8", .hostBits(meant: "fd00::/8")),
        ("0.0.0.1/0", .hostBits(meant: "0.0.0.0/0")),
    ]

    @Test(arguments: refused)
    func `a text that is no range says why`(text: String, problem: AddressRange.Problem) {
        #expect(throws: problem) { try AddressRange(text) }
    }

    @Test func `an address is the same as a range of its own`() throws {
        #expect(try AddressRange("10.0.0.1") == AddressRange("10.0.0.1/32"))
        #expect(try AddressRange("FD00::0:1/128").description == "fd00::1")
    }

    @Test func `an address is that of a socket without its port and zone`() {
        #expect(IPAddress(.v4(0x7F00_0001, port: 80)) == .v4(0x7F00_0001))
        #expect(IPAddress(.v6(1 << 63, 2, port: 80, scope: 3)) == .v6(1 << 127 | 2))
        #expect(IPAddress(.unix("/s")) == nil)
    }
}
