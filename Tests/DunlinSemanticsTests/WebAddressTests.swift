import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Web addresses` {
    @Test(
        .rows("LX-2"),
        .rules(
            "9110-4.2.3-1", "9110-4.2.3-3", "9110-4.2.5-1", "9110-7.1-1", "9112-3.2.1-1", "9112-3.2.1-2", "6455-3-3"),
        arguments: [
            // text, origin, target
            ("http://example.com", "http://example.com", "/"),
            ("http://example.com/", "http://example.com", "/"),
            ("HTTP://EXAMPLE.com:80/A", "http://example.com", "/A"),
            ("https://example.com:443", "https://example.com", "/"),
            ("https://example.com:80/", "https://example.com:80", "/"),
            ("http://example.com:/x", "http://example.com", "/x"),
            ("http://example.com:00080/x", "http://example.com", "/x"),
            ("http://example.com?x=1", "http://example.com", "/?x=1"),
            ("http://example.com?", "http://example.com", "/?"),
            ("http://example.com#top", "http://example.com", "/"),
            ("http://example.com/a%20b%2Fc?d=%e2%82%ac&e=/?", "http://example.com", "/a%20b%2Fc?d=%e2%82%ac&e=/?"),
            (
                "http://example.com/a[1]|{b}?c[]=^`<>\"", "http://example.com",
                "/a%5B1%5D%7C%7Bb%7D?c%5B%5D=%5E%60%3C%3E%22"
            ),
            (
                "http://example.com/%5b[%7C|?%7b{&a=!$'()*+,;:@-._~", "http://example.com",
                "/%5b%5B%7C%7C?%7b%7B&a=!$'()*+,;:@-._~"
            ),
            ("http://example.com/x/[/../]", "http://example.com", "/x/%5D"),
            ("http://example.com/?[#[{", "http://example.com", "/?%5B"),
            ("http://example.com/a/./b/../c//d/..", "http://example.com", "/a/c//"),
            ("http://example.com/../x?../y", "http://example.com", "/x?../y"),
            ("http://example.com/%2e%2E/x", "http://example.com", "/%2e%2E/x"),
            ("http://example.com./", "http://example.com.", "/"),
            ("http://my_service:8080/", "http://my_service:8080", "/"),
            ("http://a--b.-c-.example/", "http://a--b.-c-.example", "/"),
            ("http://1.example/", "http://1.example", "/"),
            ("http://localhost", "http://localhost", "/"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "/"),
            ("http://[::1]:8080/x", "http://[::1]:8080", "/x"),
            ("http://[2001:DB8:0:0:0:0:0:1]", "http://[2001:db8::1]", "/"),
            ("http://[::ffff:192.0.2.1]/", "http://[::ffff:c000:201]", "/"),
            ("http://ex%61mple.com/", "http://example.com", "/"),
            ("http://%31%32%37.0.0.1/", "http://127.0.0.1", "/"),
            ("http://user:pass@example.com/", "http://example.com", "/"),
            ("http://Bücher.example:81/x", "http://xn--bcher-kva.example:81", "/x"),
            ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example", "/"),
            ("http://my_büro.example/", "http://xn--my_bro-6ya.example", "/"),
            ("http://a_b.XN--BCHER-KVA/", "http://a_b.xn--bcher-kva", "/"),
            ("http://１２７。0.0.1/", "http://127.0.0.1", "/"),
        ])
    func `a web address is split into origin and target`(text: String, origin: String, target: String) throws {
        let address = try WebAddress(text)
        #expect(address.origin.description == origin)
        #expect(address.target == target)
        #expect(address.path + (address.query.map { "?\($0)" } ?? "") == target)
    }

    @Test func `a web address keeps path, query and fragment apart`() throws {
        let address = try WebAddress("https://example.com/a/b?c=d?e#f?g#h")
        #expect(address.path == "/a/b")
        #expect(address.query == "c=d?e")
        #expect(address.fragment == "f?g#h")
        #expect(address.target == "/a/b?c=d?e")
        #expect(address.description == "https://example.com/a/b?c=d?e#f?g#h")
    }

    @Test func `a web address tells an empty query or fragment from none`() throws {
        let bare = try WebAddress("http://a/")
        #expect(bare.query == nil)
        #expect(bare.fragment == nil)
        let empty = try WebAddress("http://a/?#")
        #expect(empty.query?.isEmpty == true)
        #expect(empty.fragment?.isEmpty == true)
    }

    @Test(
        .rows("LX-2"), .rules("9110-4.2.1-1", "9110-4.2.1-2", "9110-4.2.2-2"),
        arguments: [
            ("http://example.com/a%2", AddressError.Problem.invalidPercentEncoding),
            ("http://example.com/a%", .invalidPercentEncoding),
            ("http://example.com/%zz", .invalidPercentEncoding),
            ("http://example.com/?%4", .invalidPercentEncoding),
            ("http://example.com/a b", .forbiddenCharacter(" ")),
            ("http://example.com/a\tb", .forbiddenCharacter("\t")),
            ("http://example.com/a\r\nHost: b", .forbiddenCharacter("\r")),
            ("http://example.com/\u{7F}", .forbiddenCharacter("\u{7F}")),
            ("http://example.com/a\\b", .forbiddenCharacter("\\")),
            ("http://example.com/ä", .forbiddenCharacter("ä")),
            ("http://example.com/?q=🦆", .forbiddenCharacter("🦆")),
            ("http://example.com/#ä", .forbiddenCharacter("ä")),
            ("http://example.com ", .invalidHost),
            (" http://example.com", .unsupportedScheme),
            ("", .notAbsolute),
            ("example.com/x", .notAbsolute),
            ("//example.com/x", .notAbsolute),
            ("/x", .notAbsolute),
            ("/a:b", .notAbsolute),
            ("localhost:8080", .unsupportedScheme),
            ("ftp://example.com", .unsupportedScheme),
            ("httpx://example.com", .unsupportedScheme),
            ("://example.com", .unsupportedScheme),
            ("http:", .emptyHost),
            ("http:/x", .emptyHost),
            ("http:x", .emptyHost),
            ("http://", .emptyHost),
            ("http:///x", .emptyHost),
            ("http://:80/", .emptyHost),
            ("http://user@/", .emptyHost),
            ("http://a..b/", .invalidHost),
            ("http://.a/", .invalidHost),
            ("http://./", .invalidHost),
            ("http://a../", .invalidHost),
            ("http://a b/", .invalidHost),
            ("http://a\\b/", .invalidHost),
            ("http://a%/", .invalidHost),
            ("http://a%00b/", .invalidHost),
            ("http://a%2fb/", .invalidHost),
            ("http://a%ffb/", .invalidHost),
            ("http://a%40b/", .invalidHost),
            ("http://a@b@c/", .invalidHost),
            ("http://\(String(repeating: "a", count: 64))/", .invalidHost),
            ("http://\(String(repeating: "a.", count: 128))/", .invalidHost),
            ("http://127.1/", .invalidIPv4),
            ("http://1/", .invalidIPv4),
            ("http://0x7f.1/", .invalidIPv4),
            ("http://0x7f000001/", .invalidIPv4),
            ("http://0X/", .invalidIPv4),
            ("http://2130706433/", .invalidIPv4),
            ("http://127.0.0.01/", .invalidIPv4),
            ("http://010.0.0.1/", .invalidIPv4),
            ("http://127.0.0.256/", .invalidIPv4),
            ("http://127.0.0.1./", .invalidIPv4),
            ("http://1.2.3.4.5/", .invalidIPv4),
            ("http://a.1/", .invalidIPv4),
            ("http://０x7f.１/", .invalidIPv4),
            ("http://xn--abc-/", .unencodableHost(IDNAError(problem: .invalidPunycode, label: "xn--abc-"))),
            ("http://[]/", .invalidIPv6),
            ("http://[::1/", .invalidIPv6),
            ("http://[::1]x/", .invalidPort),
            ("http://[1::2::3]/", .invalidIPv6),
            ("http://[127.0.0.1]/", .invalidIPv6),
            ("http://[v1.x]/", .invalidIPv6),
            ("http://::1/", .emptyHost),
            ("http://[fe80::1%25eth0]/", .zoneIdentifier),
            ("http://[fe80::1%eth0]/", .zoneIdentifier),
            ("http://a:0/", .invalidPort),
            ("http://a:65536/", .invalidPort),
            ("http://a:99999999999999999999/", .invalidPort),
            ("http://a:+80/", .invalidPort),
            ("http://a:80x/", .invalidPort),
            ("http://a:8 0/", .invalidPort),
            ("http://a:80:80/", .invalidPort),
            ("http://us er@a/", .invalidUserInfo),
            ("http://ü@a/", .invalidUserInfo),
            ("http://u:%f@a/", .invalidUserInfo),
            ("http://u:%ff@a/", .invalidUserInfo),
        ])
    func `an error names what is wrong with a web address`(text: String, problem: AddressError.Problem) {
        let error = #expect(throws: AddressError.self) { try WebAddress(text) }
        #expect(error?.problem == problem)
    }

    @Test func `an error names the label and code point of a host without ASCII form`() {
        let error = #expect(throws: AddressError.self) { try WebAddress("http://www.a\u{E000}.de/") }
        let cause = IDNAError(problem: .disallowed("\u{E000}"), label: "a\u{E000}")
        #expect(error?.problem == .unencodableHost(cause))
        #expect(error?.description.contains("U+E000") == true)
    }

    @Test(arguments: ["http://a:65535/", "http://\(String(repeating: "a", count: 63)).example/"])
    func `a web address may have the largest port and label`(text: String) throws {
        #expect(try WebAddress(text).description == text)
    }
}

@Suite struct `User info` {
    @Test(
        .rules("9110-4.2.4-1", "9112-3.2-3"),
        arguments: [
            ("http://user:pass@a/", "user", "pass"),
            ("http://user@a/", "user", nil),
            ("http://user:@a/", "user", ""),
            ("http://:pass@a/", "", "pass"),
            ("http://us%40er:p%3Aa:s%2Fs@a/", "us@er", "p:a:s/s"),
            ("http://%C3%BC:~!$&'()*+,;=@a/", "ü", "~!$&'()*+,;="),
        ])
    func `user info is decoded and kept apart`(text: String, user: String, password: String?) throws {
        let address = try WebAddress(text)
        #expect(address.userInfo?.user == user)
        #expect(address.userInfo?.password == password)
        #expect(address.origin.authority == "a")
    }

    @Test func `user info may be empty, which is none`() throws {
        #expect(try WebAddress("http://@a/").userInfo == nil)
    }

    @Test func `user info shows in no description`() throws {
        let address = try WebAddress("http://alice:hunter2@a/x")
        var dumped = ""
        dump(address, to: &dumped)
        for text in ["\(address)", String(reflecting: address), "\([address])", dumped] {
            #expect(!text.contains("hunter2") && !text.contains("alice"), "\(text)")
        }
    }

    @Test(arguments: [
        "http://user:hunter2@a/x y", "http://user:hunter2@a:port/", "http://user:hunter2@[::/", "user:hunter2@a/x",
        "ftp://user:hunter2@a/", "http://user:%zzhunter2@a/", "http://us er:hunter2@a",
        "http://user:x/hunter2@a/", "http://a@b:hunter2@c/",
    ])
    func `user info shows in no error`(text: String) {
        let error = #expect(throws: AddressError.self) { try WebAddress(text) }
        #expect(error.map { "\($0)\($0.text)".contains("hunter2") } == false, "\(String(describing: error))")
    }

    @Test func `user info stays with its authority when references are resolved`() throws {
        let base = try WebAddress(base: "http://user:pass@a/v1")
        #expect(try base.resolving("x").userInfo == base.userInfo)
        #expect(try base.resolving("/x?y").userInfo == base.userInfo)
        #expect(try base.resolving("//b/x").userInfo == nil)
        #expect(try base.resolving("http://other@a/x").userInfo?.user == "other")
        #expect(try base.resolving("http://a/x").userInfo == nil)
    }
}
