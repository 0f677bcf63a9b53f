import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSecure

@Suite struct `Names of hosts` {
    static let names: [(host: String, presented: String, isMatch: Bool)] = [
        ("a.test", "a.test", true), ("a.test", "A.Test", true), ("A.TEST", "a.test", true), ("a.test.", "a.test", true),
        ("a.test", "b.test", false), ("a.test", "x.a.test", false), ("x.a.test", "a.test", false),
        ("a.test", "a.test.", false), ("a.test", ".a.test", false), ("a.test", "", false), ("", "", false),
        (".", ".", false), ("a..test", "a..test", false), ("a.test", "a.test\0", false),
        ("a.test", "a.test\0.evil.test", false), ("a.test", "a.test\n", false), ("a.test", " a.test", false),
        // Wildcards: one whole label, the left-most, above at least two more.
        ("x.a.test", "*.a.test", true), ("X.a.test", "*.A.Test", true), ("x.a.test.", "*.a.test", true),
        ("a.test", "*.a.test", false), ("x.y.a.test", "*.a.test", false), ("x.a.test", "*.test", false),
        ("a.test", "*.test", false), ("test", "*", false), ("a.test", "*", false), ("a.test", "*.*", false),
        ("x.a.test", "*.*.test", false), ("x.a.test", "x.*.test", false), ("xy.a.test", "x*.a.test", false),
        ("xy.a.test", "*y.a.test", false), ("xyz.a.test", "x*z.a.test", false), ("x.a.test", "**.a.test", false),
        ("x.a.test", "*a.test", false), ("x.a.test", "*..a.test", false), ("x.a.test", "*.a.test.", false),
        (".a.test", "*.a.test", false), ("*.a.test", "*.a.test", false),
        // A-labels are labels.
        ("xn--bcher-kva.test", "xn--bcher-kva.test", true), ("xn--bcher-kva.test", "bücher.test", false),
        ("bücher.test", "bücher.test", false), ("xn--bcher-kva.a.test", "*.a.test", true),
        ("xn--bcher-kva.test", "xn--*.test", false), ("x.xn--bcher-kva.test", "*.xn--bcher-kva.test", true),
        ("my_host.a.test", "my_host.a.test", true), ("localhost", "localhost", true),
        // Addresses are not names.
        ("127.0.0.1", "127.0.0.1", false), ("127.0.0.1", "*.0.0.1", false), ("::1", "::1", false),
        ("127.1", "127.1", false), ("127.0.0.01", "127.0.0.01", false), ("0x7f.1", "0x7f.1", false),
    ]

    @Test(.rows("SP-7", "SP-17"), .rules("9110-4.3.4-1", "9110-4.3.4-2"), arguments: names)
    func `names of hosts match by RFC 9525`(host: String, presented: String, isMatch: Bool) {
        #expect(HostMatch.matches(HostIdentity(host), .dns(Bytes(presented))) == isMatch)
    }

    static let addresses: [(host: String, octets: [UInt8], isMatch: Bool)] = [
        ("127.0.0.1", [127, 0, 0, 1], true), ("127.0.0.1", [127, 0, 0, 2], false),
        ("127.0.0.1", [127, 0, 0], false), ("127.0.0.1", Array("127.0.0.1".utf8), false),
        ("::1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], true), ("::1", [1], false),
        ("2001:db8::5", [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5], true),
        // An IPv4 address mapped into IPv6 is another address.
        ("::ffff:7f00:1", [127, 0, 0, 1], false),
        ("127.0.0.1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 0, 0, 1], false),
        ("127.0.0.01", [127, 0, 0, 1], false), ("0:0::1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], false),
        ("a.test", [97, 46, 116, 101], false), ("", [], false),
    ]

    @Test(.rows("SP-17"), .rules("9110-4.3.4-2"), arguments: addresses)
    func `addresses of hosts match by their octets`(host: String, octets: [UInt8], isMatch: Bool) {
        #expect(HostMatch.matches(HostIdentity(host), .address(Bytes(octets))) == isMatch)
    }

    @Test func `one matching name of many is enough, and none is not`() {
        let names: [PresentedName] = [.dns("b.test"), .address([1, 2, 3, 4]), .dns("*.a.test")]
        #expect(HostMatch.matches(HostIdentity("x.a.test"), names))
        #expect(!HostMatch.matches(HostIdentity("c.test"), names))
        #expect(!HostMatch.matches(HostIdentity("c.test"), []))
    }

    static let patterns: [(String, [String], [String])] = [
        ("a.test", ["a.test", "A.test."], ["x.a.test", "b.test"]),
        ("*.a.test", ["x.a.test"], ["a.test", "x.y.a.test", "xa.test"]),
        ("**.a.test", ["a.test", "x.a.test", "x.y.a.test"], ["xa.test", "test"]),
        ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "x.127.0.0.1"]), ("::1", ["::1"], ["::2"]),
        ("**.test", ["a.test", "test"], ["a.tests"]),
    ]

    @Test(arguments: patterns)
    func `patterns of hosts reach as far as they say`(pattern: String, matching: [String], others: [String]) throws {
        let pattern = try #require(HostPattern(pattern))
        for host in matching { #expect(pattern.matches(HostIdentity(host)), "\(host)") }
        for host in others { #expect(!pattern.matches(HostIdentity(host)), "\(host)") }
    }

    @Test(arguments: [
        "", "*", "**", "*.", "a..test", "*.127.0.0.1", "a*.test", "x.*.test", "a test", "bücher.test", "*a.test",
    ])
    func `patterns that name no host are refused`(text: String) {
        #expect(HostPattern(text) == nil)
    }
}
