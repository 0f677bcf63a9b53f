import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Proxy exceptions` {
    /// A NO_PROXY, hosts it covers and hosts it does not; a host may have a port behind a blank, else it is 443.
    static let lists: [(String, covered: [String], other: [String])] = [
        ("", [], ["a.test", "127.0.0.1"]), (" , ,", [], ["a.test"]),
        ("*", ["a.test", "10.0.0.1", "::1"], []), ("b.test,*", ["a.test"], []), ("*:80", ["a.test 80"], ["a.test"]),
        ("a.test", ["a.test", "b.a.test", "c.b.a.test"], ["xa.test", "evila.test", "test", "a.test.b", "a"]),
        (".a.test", ["a.test", "b.a.test"], ["xa.test"]),
        ("*.a.test", ["b.a.test", "c.b.a.test"], ["a.test", "xa.test", "evila.test"]),
        ("A.TEST", ["a.test", "b.a.test"], []), ("a.test", ["A.Test", "b.A.TEST."], []),
        ("a.test.", ["a.test", "a.test.", "b.a.test."], []), ("a.test", ["a.test.", "b.a.test."], []),
        ("a.test:8080", ["a.test 8080", "b.a.test 8080"], ["a.test", "a.test 80"]),
        ("a.test b.test\tc.test,\n d.test\r\n", ["a.test", "b.test", "c.test", "d.test"], ["e.test"]),
        ("test", ["a.test", "test"], ["atest"]), ("intranet", ["intranet"], ["intranet.test"]),
        ("b\u{FC}cher.test", ["xn--bcher-kva.test", "a.xn--bcher-kva.test", "b\u{FC}cher.test"], ["bucher.test"]),
        ("xn--bcher-kva.test", ["xn--bcher-kva.test"], []), ("a_b.test", ["a_b.test"], []),
        ("10.0.0.1", ["10.0.0.1", "::ffff:10.0.0.1"], ["10.0.0.2", "1.10.0.0.1", "110.0.0.1"]),
        ("10.0.0.1:80", ["10.0.0.1 80"], ["10.0.0.1"]),
        ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.1.1"], ["11.0.0.0", "10.test", "::a01:101"]),
        ("10.1.2.3/8", ["10.9.9.9"], ["11.0.0.0"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1", "a.test"]),
        // As some other programs write ranges.
        ("10.*", ["10.1.2.3"], ["11.0.0.1", "10.test"]), ("192.168.*.*", ["192.168.7.7"], ["192.169.0.1"]),
        ("192.168.*", ["192.168.7.7"], ["192.169.0.1"]), ("169.254/16", ["169.254.1.1"], ["169.253.0.1"]),
        ("*.corp", ["a.corp"], ["corp"]),
        ("192.168.0.0/16,172.16.0.0/12", ["192.168.1.1", "172.31.0.1"], ["172.32.0.1"]),
        ("::1", ["::1"], ["::2"]), ("[::1]", ["::1"], ["::2"]), ("[::1]:80", ["::1 80"], ["::1"]),
        ("2001:DB8::0:1", ["2001:db8::1"], ["2001:db8::2"]), ("fd00::/8", ["fd12::1"], ["fe80::1"]),
        ("[fd00::]/8", ["fd12::1"], ["fe80::1"]),
        ("::ffff:10.0.0.0/104", ["10.1.2.3", "::ffff:10.1.2.3"], ["11.0.0.1"]),
        ("/var/run/docker.sock,a.test", ["a.test"], ["var"]), ("/var/run/docker.sock", [], ["a.test"]),
        // A name is not resolved for this, and an address has no names below it.
        ("127.0.0.0/8", ["127.1.2.3"], ["localhost"]), ("10.0.0.1", [], ["a.10.0.0.1"]),
    ]

    @Test(arguments: lists)
    func `a list of proxy exceptions covers the hosts that it names`(text: String, covered: [String], other: [String])
        throws
    {
        let exceptions = try ProxyExceptions(text)
        for (hosts, expected) in [(covered, true), (other, false)] {
            for entry in hosts {
                let parts = entry.split(separator: " ")
                let port = parts.count > 1 ? try #require(UInt16(parts[1])) : 443
                #expect(exceptions.cover(host: String(parts[0]), port: port) == expected, "\(entry)")
            }
        }
    }

    @Test func `a list of proxy exceptions that covers every host on every port says so`() throws {
        for text in ["*", "a.test, *"] { #expect(try ProxyExceptions(text).coverAll) }
        for text in ["", "*:80", "*.test", "0.0.0.0/0,::/0"] { #expect(try !ProxyExceptions(text).coverAll) }
    }

    static let refused: [(String, ProxyExceptionsError.Problem)] = [
        ("http://a.test", .url), ("u:p@a.test", .url), ("a.*.test", .wildcard),
        ("*a.test", .wildcard),
        ("**", .wildcard), ("*.*.test", .wildcard), (".", .invalidHost), ("..a", .invalidHost), ("a..b", .invalidHost),
        ("*.", .invalidHost), ("<local>", .invalidHost), ("a;b", .invalidHost), ("127.1", .invalidHost),
        ("0x7f.0.0.1", .invalidHost), ("10.0.0", .invalidHost), ("[::1", .invalidHost), ("[10.0.0.1]", .invalidHost),
        ("[a.test]", .invalidHost), ("[::1]x", .invalidHost), ("::1::", .invalidHost), ("fe80::1%1", .invalidHost),
        (":80", .invalidHost), ("a.test:", .invalidPort), ("a.test:0", .invalidPort), ("a.test:65536", .invalidPort),
        ("a.test:+80", .invalidPort), ("a.test:http", .invalidPort), ("[::1]:", .invalidPort),
        ("10.0.0.0/33", .range(.invalidLength)), ("10.0.0.0/", .range(.invalidLength)),
        ("a.test/8", .range(.notAnAddress)),
        ("10/8", .range(.notAnAddress)), ("[fd00::]/129", .range(.invalidLength)), ("10.0.0.0/8:80", .rangeWithPort),
    ]

    @Test(arguments: refused)
    func `an entry that can match nothing is an error, and so is its list`(
        entry: String, problem: ProxyExceptionsError.Problem
    ) {
        for text in [entry, "a.test,\(entry),10.0.0.0/8"] {
            do throws(ProxyExceptionsError) {
                _ = try ProxyExceptions(text)
                Issue.record("\(text) is no list")
            } catch {
                #expect(error.problem == problem)
                #expect(error.entry == (problem == .url ? nil : entry))
            }
        }
    }

    @Test func `no error about proxy exceptions shows user info, or what could control a terminal`() {
        for text in ["u:geheim@a.test", "http://u:geheim@a", "u:geheim@\u{301}a", "geheim:/\u{301}/@b"] {
            do { _ = try ProxyExceptions(text) } catch { #expect(!"\(error)".contains("geheim")) }
        }
        #expect(throws: ProxyExceptionsError.self) { try ProxyExceptions("a\u{1B}[2Jb") }
        do { _ = try ProxyExceptions("a\u{1B}[2Jb") } catch { #expect(!"\(error)".unicodeScalars.contains("\u{1B}")) }
    }
}
