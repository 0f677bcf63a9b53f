import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `A choice of challenges` {
    private static func choice(_ field: String) -> ChallengeChoice {
        ChallengeChoice(Challenge.all(in: [Bytes(field)]))
    }

    private static func shown(_ choice: ChallengeChoice) -> [String] {
        choice.options.map { option in
            switch option {
            case .digest(let challenge): "\(challenge.algorithm) \(challenge.quality?.rawValue ?? "-") \(option.realm)"
            case .basic: "Basic \(option.realm)"
            }
        }
    }

    private static func digest(_ realm: String, _ algorithm: String, _ rest: String = "qop=auth") -> String {
        "Digest realm=\(realm), nonce=n, algorithm=\(algorithm), \(rest)"
    }

    static let fields: [(String, [String])] = [
        ("Basic realm=a", ["Basic a"]), ("basic", ["Basic "]), ("", []),
        ("Basic realm=a, " + digest("b", "MD5"), ["MD5 auth b", "Basic a"]),
        (
            [digest("a", "MD5"), digest("b", "sha-256"), "Basic realm=c", digest("d", "SHA-512-256")]
                .joined(separator: ", "),
            ["SHA-512-256 auth d", "SHA-256 auth b", "MD5 auth a", "Basic c"]
        ),
        (
            [digest("a", "SHA-256-sess"), digest("b", "SHA-256"), digest("c", "MD5"), digest("d", "MD5-SESS")]
                .joined(separator: ", "),
            ["SHA-256-sess auth a", "SHA-256 auth b", "MD5 auth c", "MD5-sess auth d"]
        ),
        (digest("a", "\"MD5\"", #"qop="auth-int,auth""#), ["MD5 auth a"]),
        (digest("a", "MD5", #"qop="auth-int""#), ["MD5 auth-int a"]),
        (digest("a", "MD5", #"qop="x, AUTH-INT""#), ["MD5 auth-int a"]),
        ("Digest realm=a, nonce=n", ["MD5 - a"]), (digest("a", "MD5", "x=y"), ["MD5 - a"]),
    ]

    @Test(.rules("9110-11.3-4"), arguments: fields)
    func `the strongest challenge comes first, and of equal ones the server's first`(field: String, expected: [String])
    {
        #expect(Self.shown(Self.choice(field)) == expected)
        #expect(Self.choice(field).refusals == [])
    }

    static let refused: [(String, String)] = [
        (digest("a", "SHA-1"), #"Digest: the algorithm "SHA-1" is not supported"#),
        (digest("a", "SHA-512"), #"Digest: the algorithm "SHA-512" is not supported"#),
        (digest("a", "\"\""), #"Digest: the algorithm "" is not supported"#),
        (digest("a", "MD5", "qop=token"), #"Digest: no qop of "token" is supported"#),
        (digest("a", "MD5", "qop=\"\""), #"Digest: no qop of "" is supported"#),
        (digest("a", "SHA-256", "x=y"), "Digest: SHA-256 needs a qop, and there is none"),
        (digest("a", "MD5-sess", "x=y"), "Digest: MD5-sess needs a qop, and there is none"),
        ("Digest nonce=n, qop=auth", "Digest: it has no realm"), ("Digest realm=a", "Digest: it has no nonce"),
        ("Digest realm=a, nonce=n, nonce=m", "Digest: nonce is given twice"), ("Digest", "Digest: it has no realm"),
        ("Digest abc=", "Digest: it has no realm"), ("Digest realm=@", "Digest: it cannot be read"),
        ("Bearer realm=a", "Bearer: it asks for a token and not for a password"),
        ("Negotiate", "Negotiate: the scheme is not supported"), ("NTLM", "NTLM: the scheme is not supported"),
    ]

    @Test(arguments: refused)
    func `a challenge that no password answers is refused, others are not`(field: String, reason: String) {
        let choice = Self.choice("\(field), Basic realm=b")
        #expect(choice.refusals.map(\.description) == [reason])
        #expect(Self.shown(choice) == ["Basic b"])
    }

    @Test func `a text that is not UTF-8 cannot be sent back, and Basic does not send it back`() {
        let latin = Array("Basic realm=\"K\u{FC}che\", Digest realm=\"K".utf8) + [0xFC] + Array("che\", nonce=n".utf8)
        let choice = ChallengeChoice(Challenge.all(in: [Bytes(latin)]))
        #expect(choice.refusals.map(\.description) == ["Digest: its realm is not UTF-8"])
        #expect(Self.shown(choice) == ["Basic K\u{FC}che"])
    }

    @Test func `a token is asked for by name`() {
        #expect(Self.choice("Basic realm=a, BEARER scope=s").bearer?["scope"] == "s")
        #expect(Self.choice("Basic realm=a").bearer == nil)
        #expect(Self.choice("Bearer a=b, a=c").bearer == nil)
    }

    @Test func `a reason shows a server's text in one line and not whole`() {
        let text = String(repeating: "\u{202E}x", count: 500)
        let choice = Self.choice("Digest realm=a, nonce=n, algorithm=\"\(text)\"")
        let reason = choice.refusals.first?.description ?? ""
        #expect(reason.count < 120 && !reason.unicodeScalars.contains("\u{202E}"))
    }

    @Test func `a Digest challenge has what RFC 7616 gives it`() throws {
        let field = #"""
            Digest realm="a \"b\"", domain="/x  https://b.test/", nonce="n\\", opaque="", stale=TRUE, algorithm=md5, \#
            qop="auth, auth-int", charset=utf-8, userhash=True
            """#
        let challenge = try DigestChallenge(try #require(Challenge.all(in: [Bytes(field)]).first))
        #expect(challenge.realm == #"a "b""# && challenge.nonce == #"n\"# && challenge.opaque == "")
        #expect(challenge.domain == ["/x", "https://b.test/"])
        #expect(challenge.isStale && challenge.isUTF8 && challenge.hashesUser)
        #expect(challenge.algorithm == .md5 && challenge.algorithmText == "md5")
        #expect(challenge.qualities == [.authentication, .integrity])
    }
}
