import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Resolving references` {
    /// RFC 3986 §5.4.1 and §5.4.2.
    @Test(
        .rows("HS-3"), .rules("9110-10.2.2-1"),
        arguments: [
            ("http:g", nil), ("g:h", nil),
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q#s"), ("g#s", "/b/c/g#s"), ("g?y#s", "/b/c/g?y#s"),
            (";x", "/b/c/;x"),
            ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y#s"), ("", "/b/c/d;p?q"), (".", "/b/c/"), ("./", "/b/c/"),
            ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
            ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
            (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/./x", "/b/c/g#s/./x"),
            ("g#s/../x", "/b/c/g#s/../x"), ("...", "/b/c/..."), ("/...", "/..."), ("g/...", "/b/c/g/..."),
            ("g//h", "/b/c/g//h"), ("a/b:c", "/b/c/a/b:c"), ("?t=1:2", "/b/c/d;p?t=1:2"), ("g?t=1:2", "/b/c/g?t=1:2"),
            ("%20/x%2F", "/b/c/%20/x%2F"), ("/a:b", "/a:b"), ("./a:b", "/b/c/a:b"),
        ])
    func `references are resolved as in the table of RFC 3986`(reference: String, expected: String?) throws {
        let base = try WebAddress("http://a/b/c/d;p?q#f")
        guard let expected else {
            #expect(throws: AddressError.self) { try base.resolving(reference) }
            return
        }
        let resolved = try base.resolving(reference)
        #expect(resolved.description == "http://a" + expected)
        #expect(try WebAddress("http://a" + expected) == resolved)
        let (origin, target) = try base.target(for: reference)
        #expect(origin == base.origin)
        #expect(target == resolved.target)
    }

    /// A dot segment before the reference keeps it from being appended without a closer look.
    @Test(arguments: (0..<0x80).map { Unicode.Scalar(UInt8($0)) })
    func `a plain reference gets the same target as one that is resolved step by step`(scalar: Unicode.Scalar) throws {
        let base = try WebAddress("http://a/b")
        for reference in ["/x\(scalar)", "x/\(scalar)/x", "x?\(scalar)x", "x\(scalar)"] where reference != "x:" {
            let long = reference.hasPrefix("/") ? "/.\(reference)" : "./\(reference)"
            #expect((try? base.target(for: reference))?.target == (try? base.resolving(long))?.target, "\(reference)")
        }
    }

    @Test(arguments: [
        ("a[1]", "/b/a%5B1%5D"), ("/a|b", "/a%7Cb"), ("a?x[]={}", "/b/a?x%5B%5D=%7B%7D"), ("?^`", "/b/c?%5E%60"),
        ("./<\">", "/b/%3C%22%3E"), ("%5B[", "/b/%5B%5B"), ("//g/a[1]?[", "/a%5B1%5D?%5B"),
        ("http://g/a[1]?[", "/a%5B1%5D?%5B"), ("a#[", "/b/a"),
    ])
    func `characters that people write and no URL holds are encoded`(reference: String, target: String) throws {
        let base = try WebAddress("http://a/b/c")
        #expect(try base.target(for: reference).target == target)
        #expect(try base.resolving(reference).target == target)
    }

    @Test(arguments: [
        ("//g", "http://g/"), ("//g:81/x?y#z", "http://g:81/x?y#z"), ("//[::1]/", "http://[::1]/"),
        ("http://b/x/../y", "http://b/y"), ("HTTPS://B", "https://b/"), ("///x", nil), ("//", nil), ("//g:x/", nil),
        ("a:b", nil), (":x", nil), ("1:x", nil), ("ftp://b/", nil), ("http:///x", nil),
    ])
    func `the authority of a reference is taken if it has one`(reference: String, expected: String?) throws {
        let base = try WebAddress("http://a:8080/b")
        #expect((try? base.resolving(reference))?.description == expected)
        let pair = try? base.target(for: reference)
        #expect(pair.map { "\($0.origin)\($0.target)" } == expected?.split(separator: "#").first.map(String.init))
    }

    @Test(arguments: [
        ("a b", AddressError.Problem.forbiddenCharacter(" ")), ("a\nb", .forbiddenCharacter("\n")),
        ("/a\\b", .forbiddenCharacter("\\")), ("ä", .forbiddenCharacter("ä")), ("a?ß", .forbiddenCharacter("ß")),
        ("%", .invalidPercentEncoding), ("a%2", .invalidPercentEncoding), ("users:42", .unsupportedScheme),
        ("\u{0}", .forbiddenCharacter("\0")), (" a", .forbiddenCharacter(" ")), ("a ", .forbiddenCharacter(" ")),
    ])
    func `an error names what is wrong with a reference`(reference: String, problem: AddressError.Problem) throws {
        let base = try WebAddress("http://a/")
        let error = #expect(throws: AddressError.self) { try base.resolving(reference) }
        #expect(error?.problem == problem)
        #expect(error?.text == reference)
        #expect(throws: AddressError.self) { try base.target(for: reference) }
    }
}

@Suite struct `Base addresses` {
    @Test(
        .rows("HS-1"),
        arguments: [
            ("http://example.com", "http://example.com/"), ("http://example.com/", "http://example.com/"),
            ("http://example.com/v1", "http://example.com/v1/"), ("http://example.com/v1/", "http://example.com/v1/"),
            ("http://example.com/v1/..", "http://example.com/"),
        ])
    func `a base address ends in a slash`(text: String, expected: String) throws {
        #expect(try WebAddress(base: text).description == expected)
    }

    @Test(
        .rows("HS-2"),
        arguments: ["http://example.com/v1?x=1", "http://example.com/#top", "http://example.com?", "http://u:p@a/#"])
    func `a base address has neither query nor fragment`(text: String) {
        let error = #expect(throws: AddressError.self) { try WebAddress(base: text) }
        #expect(error?.problem == .baseWithQueryOrFragment)
        #expect(error?.text.contains("u:p") == false)
    }

    @Test(arguments: [
        ("foo", "http://example.com/v1/foo"), ("foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("/foo", "http://example.com/foo"), ("foo/", "http://example.com/v1/foo/"),
        ("/foo/", "http://example.com/foo/"), ("users/42", "http://example.com/v1/users/42"),
        ("http://other.example/x", "http://other.example/x"), ("?x=1", "http://example.com/v1/?x=1"),
        ("../up", "http://example.com/up"), ("", "http://example.com/v1/"),
        ("foo#bar", "http://example.com/v1/foo#bar"), (".well-known/x", "http://example.com/v1/.well-known/x"),
    ])
    func `a base address resolves what a session is asked for`(reference: String, expected: String) throws {
        #expect(try WebAddress(base: "http://example.com/v1").resolving(reference).description == expected)
    }

    @Test(.rows("HS-6")) func `a base address refuses a typo that looks like a scheme`() throws {
        let error = #expect(throws: AddressError.self) {
            try WebAddress(base: "http://example.com/").resolving("foo:bar")
        }
        #expect(error?.problem == .unsupportedScheme)
    }
}

extension WebAddress {
    /// What a request for this reference is sent with.
    fileprivate func target(for reference: String) throws -> (origin: HTTP.Origin, target: String) {
        if let direct = directTarget(for: reference) { return direct }
        let address = try resolving(reference)
        return (address.origin, address.target)
    }
}
