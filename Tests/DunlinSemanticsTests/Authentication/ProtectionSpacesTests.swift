import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Protection spaces` {
    private static let origin = "https://a.test"

    private static func isCovered(_ target: String, by scope: ProtectionScope) -> Bool {
        var spaces = ProtectionSpaces()
        spaces.keep(.basic("x"), origin: origin, realm: "r", scope: scope)
        return spaces.name(for: origin, target: target) != nil
    }

    private static func value(_ spaces: inout ProtectionSpaces, _ target: String, at origin: String = origin) -> String?
    {
        guard let name = spaces.name(for: origin, target: target) else { return nil }
        return spaces.use(name) { access in if case .basic(let value) = access { value } else { "Digest" } }
    }

    /// RFC 7617 §2.2: of http://example.com/docs/index.html all below /docs/.
    static let basic: [(String, [String], [String])] = [
        (
            "/docs/index.html", ["/docs/", "/docs/test.doc", "/docs/?page=1", "/docs/a/b"],
            ["/docs", "/docs2/a", "/", ""]
        ),
        ("/docs?a=/b/c", ["/", "/x", "/docs/"], []), ("/", ["/", "/x"], []), ("/a/b/?x", ["/a/b/c"], ["/a/b", "/a/c"]),
        ("/a/", ["/a/b"], ["/a/%2e%2e/b", "/a/%2E./b", "/a/..%2fb", "/a/x%5c..", "/A/b"]), ("*", [], ["/", "*"]),
    ]

    @Test(.rules("9110-11.4-2", "9110-11.5-1"), arguments: basic)
    func `Basic credentials go to the directory they were asked for in, and below`(
        asked: String, covered: [String], others: [String]
    ) {
        let scope = ProtectionScope.basic(asked)
        for target in covered { #expect(Self.isCovered(target, by: scope), "\(target)") }
        for target in others { #expect(!Self.isCovered(target, by: scope), "\(target)") }
    }

    /// RFC 7616 §3.3; the challenge came for https://a.test/docs/x.
    static let domains: [(String, [String], [String])] = [
        ("", ["/", "/x", "/a/%2e%2e/b", "*"], []), ("  ", ["/x"], []), ("/", ["/x"], []),
        ("/a", ["/a", "/a?q", "/a/b"], ["/ab", "/", "/b"]), ("/a/ /b", ["/a/b", "/b", "/b/c"], ["/a", "/c"]),
        ("https://a.test/a", ["/a/b"], ["/b"]), ("https://A.test:443/a", ["/a"], ["/b"]),
        ("https://b.test/a http://a.test/b https://a.test:8443/c //b.test/d", [], ["/a", "/b", "/c", "/d", "/"]),
        ("y ./z/../w", ["/docs/y", "/docs/w"], ["/docs", "/y", "/docs/z"]),
        ("/a?q /b#f", ["/b"], ["/a", "/a?q"]), ("\\ /% ftp://a.test/ /a", ["/a"], ["/b"]),
        ("/a", ["/a/b"], ["/a/%2E%2e/b"]),
    ]

    @Test(.rules("9110-11.5-2"), arguments: domains)
    func `a Digest answer goes to the domain of its challenge, as far as it is the origin's`(
        domain: String, covered: [String], others: [String]
    ) throws {
        let text = domain.replacing("\\", with: "\\\\")
        let challenge = try digestChallenge("realm=r, nonce=n, domain=\"\(text)\"")
        let address = try WebAddress("https://a.test/docs/x")
        let scope = ProtectionScope.digest(challenge, at: address)
        for target in covered { #expect(Self.isCovered(target, by: scope), "\(target)") }
        for target in others { #expect(!Self.isCovered(target, by: scope), "\(target)") }
        #expect(ProtectionScope.digest(challenge, at: address, from: .proxy) == .everything)
    }

    @Test func `the longest path counts, and of as long ones what was used last`() {
        var spaces = ProtectionSpaces()
        for (realm, asked) in [("all", "/x"), ("docs", "/docs/x"), ("twin", "/docs/y"), ("deep", "/docs/a/x")] {
            spaces.keep(.basic(realm), origin: Self.origin, realm: realm, scope: .basic(asked))
        }
        spaces.keep(.basic("other"), origin: "http://a.test", realm: "docs", scope: .everything)
        #expect(Self.value(&spaces, "/y") == "all")
        #expect(Self.value(&spaces, "/docs/a/y") == "deep")
        #expect(Self.value(&spaces, "/docs/z") == "twin")
        let docs = ProtectionSpaces.Name(origin: Self.origin, scheme: .basic, realm: "docs")
        #expect(spaces.use(docs) { _ in true } == true)
        #expect(Self.value(&spaces, "/docs/z") == "docs")
        #expect(Self.value(&spaces, "/docs/z", at: "http://a.test") == "other")
        #expect(Self.value(&spaces, "/docs/z", at: "https://b.test") == nil)
        spaces.remove(docs)
        #expect(Self.value(&spaces, "/docs/z") == "twin")
        #expect(spaces.use(docs) { _ in true } == nil)
        spaces.removeAll()
        #expect(spaces.count == 0)
    }

    @Test func `a Basic space grows, a Digest space is what was said last`() throws {
        var spaces = ProtectionSpaces()
        let machine = try DigestMachine()
        for asked in ["/a/x", "/b/x"] {
            spaces.keep(.basic("new"), origin: Self.origin, realm: "r", scope: .basic(asked))
            spaces.keep(.digest(machine), origin: Self.origin, realm: "r", scope: .basic("/digest" + asked))
        }
        #expect(spaces.count == 2)
        #expect(["/a/y", "/b/y"].allSatisfy { Self.value(&spaces, $0) == "new" })
        #expect(Self.value(&spaces, "/digest/a/y") == nil && Self.value(&spaces, "/digest/b/y") == "Digest")
        for number in 0..<100 {
            spaces.keep(.basic("new"), origin: Self.origin, realm: "r", scope: .basic("/d\(number)/x"))
        }
        #expect(Self.value(&spaces, "/a/y") == nil && Self.value(&spaces, "/d67/y") == nil)
        #expect(Self.value(&spaces, "/d68/y") == "new" && Self.value(&spaces, "/d99/y") == "new")
    }

    @Test func `what was used longest ago is forgotten`() {
        var spaces = ProtectionSpaces(limit: 2)
        for realm in ["a", "b"] { spaces.keep(.basic(realm), origin: realm, realm: realm, scope: .everything) }
        #expect(Self.value(&spaces, "/", at: "a") == "a")
        spaces.keep(.basic("c"), origin: "c", realm: "c", scope: .everything)
        #expect(spaces.count == 2)
        #expect(["a", "b", "c"].map { Self.value(&spaces, "/", at: $0) } == ["a", nil, "c"])
        var many = ProtectionSpaces()
        for number in 0..<1000 { many.keep(.basic("x"), origin: "o", realm: "\(number)", scope: .everything) }
        #expect(many.count == 100)
        var none = ProtectionSpaces(limit: 0)
        none.keep(.basic("x"), origin: "o", realm: "r", scope: .everything)
        #expect(none.count == 0)
    }

    @Test func `a machine in a space counts its answers`() throws {
        var spaces = ProtectionSpaces()
        var machine = try DigestMachine()
        #expect(machine.challenged(try digestChallenge("realm=r, nonce=n, qop=auth")) == .answer(.challenged))
        let name = spaces.keep(.digest(machine), origin: Self.origin, realm: "r", scope: .everything)
        #expect(spaces.name(for: Self.origin, target: "/") == name)
        let counts = try (0..<3).map { _ in
            try spaces.use(name) { access in
                guard case .digest(var machine) = access else { return "" }
                defer { access = .digest(machine) }
                return try machine.get().count
            }
        }
        #expect(counts == ["00000001", "00000002", "00000003"])
    }
}
