import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Challenges` {
    private static func shown(_ challenges: [Challenge]) -> [String] {
        challenges.map { challenge in challenge.problem.map { "\(challenge.scheme): \($0)" } ?? "\(challenge)" }
    }

    /// RFC 9110 §11.6.1 has the fifth.
    static let fields: [(String, [String])] = [
        ("", []), (" ,\t, ,", []), ("Basic", ["Basic"]), ("  Negotiate  ", ["Negotiate"]),
        (
            #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
            [#"Basic realm="simple""#, #"Newauth realm="apps", title="Login to \"apps\"", type="1""#]
        ),
        ("Basic realm=simple", [#"Basic realm="simple""#]), ("BASIC REALM=\"A\"", [#"BASIC realm="A""#]),
        (#"Basic realm="a, Digest b=c""#, [#"Basic realm="a, Digest b=c""#]),
        ("Basic realm = \"a\" , charset\t=\tUTF-8", [#"Basic charset="UTF-8", realm="a""#]),
        (#",, Basic  realm="a",, ,x=y,"#, [#"Basic realm="a", x="y""#]),
        ("Negotiate, NTLM, Basic realm=a", ["Negotiate", "NTLM", #"Basic realm="a""#]),
        ("Negotiate YII+/w==, Basic realm=a", ["Negotiate YII+/w==", #"Basic realm="a""#]),
        ("A x=, B y==, C z", ["A x=", "B y==", "C z"]), ("A -._~+/, B", ["A -._~+/", "B"]),
        ("A x=1, B", [#"A x="1""#, "B"]), ("A x = 1", [#"A x="1""#]),
        (#"A x="\\\"\a""#, [#"A x="\\\"a""#]), (#"A x="""#, [#"A x="""#]),
        ("Bearer error=\"invalid_token\"", [#"Bearer error="invalid_token""#]),
    ]

    @Test(
        .rules("9110-5.6.1-2", "9110-5.6.3-2", "9110-5.6.4-1", "9110-11.3-1", "9110-11.3-2", "9110-11.6.1-1"),
        arguments: fields)
    func `challenges are read as RFC 9110 says`(field: String, expected: [String]) {
        #expect(Self.shown(Challenge.all(in: [Bytes(field)])) == expected)
    }

    /// What stands around it counts.
    static let broken: [(String, [String])] = [
        ("@@@, Basic realm=a", [#"Basic realm="a""#]), ("x=y, Basic realm=a", [#"Basic realm="a""#]),
        ("Basic realm=a, @, =, Digest nonce=n", [#"Basic realm="a""#, #"Digest nonce="n""#]),
        ("Basic realm=a, \"x, y\", NTLM", [#"Basic realm="a""#, "NTLM"]),
        ("A b=@, C d=e", ["A: it cannot be read", #"C d="e""#]),
        ("A b=c d=e, F g=h", ["A: it cannot be read", #"F g="h""#]),
        ("A \"x\", B c=d", ["A: it cannot be read", #"B c="d""#]),
        ("A\"x\", B c=d", ["A: it cannot be read", #"B c="d""#]),
        ("A x y, B c=d", ["A: it cannot be read", #"B c="d""#]),
        ("A x==y, B c=d", ["A: it cannot be read", #"B c="d""#]),
        ("A x, y=z, B c=d", ["A: it cannot be read", #"B c="d""#]),
        ("A b=c, d=, E f=g", ["A: it cannot be read", #"E f="g""#]),
        ("A b=c, d=\"open, E f=g", ["A: it cannot be read"]), ("A b=\"c\\", ["A: it cannot be read"]),
        ("A b=c, D e=\"open", [#"A b="c""#, "D: it cannot be read"]),
        ("A b=\"c\"d, E f=g", ["A: it cannot be read", #"E f="g""#]),
        ("A b=\"x\u{1}\", C", ["A: it cannot be read", "C"]), ("A b=\"x\r\ny\", C", ["A: it cannot be read", "C"]),
        ("A b=c, B=d, E f=g", ["A: b is given twice", #"E f="g""#]),
        ("A b=c, b=c, d=@", ["A: b is given twice"]), ("Ä, Basic realm=a", [#"Basic realm="a""#]),
    ]

    @Test(.rules("9110-2.2-4", "9110-11.3-3"), arguments: broken)
    func `what cannot be read is passed over`(field: String, expected: [String]) {
        #expect(Self.shown(Challenge.all(in: [Bytes(field)])) == expected)
    }

    @Test(.rules("9110-5.2-1", "9110-5.5-4", "9110-11.3-2")) func `several fields are one list`() {
        let fields: Fields = [
            "WWW-Authenticate": "Basic realm=\"a", "www-authenticate": "Digest nonce=n", "WWW-authenticate": "opaque=o",
            "Proxy-Authenticate": "Basic realm=p",
        ]
        let shown = Self.shown(Challenge.all(in: fields, from: .origin))
        #expect(shown == ["Basic: it cannot be read", #"Digest nonce="n", opaque="o""#])
        #expect(Self.shown(Challenge.all(in: fields, from: .proxy)) == [#"Basic realm="p""#])
        #expect(Challenge.all(in: [:], from: .origin).isEmpty)
    }

    @Test(.rules("9110-5.6.6-1", "9110-11.3-1")) func `parameters are looked up whatever the case`() throws {
        let challenge = try #require(Challenge.all(in: ["dIgEsT ReAlM=a, x=\"\u{E4}\""]).first)
        #expect(challenge["REALM"] == "a" && challenge["x"] == "\u{E4}" && challenge["y"] == nil)
        #expect(challenge.isOf("Digest") && !challenge.isOf("Basic"))
    }

    @Test func `the number and length of challenges that are read have limits`() {
        let schemes = (0..<1000).map { "S\($0)" }.joined(separator: ", ")
        #expect(Challenge.all(in: [Bytes(schemes)]).count == 16)
        let parameters = (0..<1000).map { "p\($0)=v" }.joined(separator: ", ")
        let many = Challenge.all(in: [Bytes("A \(parameters), B c=d")])
        #expect(Self.shown(many) == ["A: it has more than 32 parameters", #"B c="d""#])
        #expect(many[0].parameters.count == 32)
        let long = Bytes("A b=" + String(repeating: "x", count: 16_000))
        #expect(Challenge.all(in: [long, long, "B c=d"]).count == 1)
        #expect(Challenge.all(in: ["B c=d", long, long]).count == 2)
    }

    @Test(arguments: ["\"", "\\", ",", "=", " ", "a", "a=", "a=\"", "a \"", "\"\\", "a b=\"\\\",", "a,b=\""])
    func `repeated pieces cost no more than their length`(piece: String) {
        let field = Bytes(String(repeating: piece, count: 16_384 / piece.utf8.count))
        #expect(Challenge.all(in: [field]).count <= 16)
    }

    @Test(
        .rules("9110-11.7.1-1"),
        arguments: [
            (Challenger.origin, 401, "WWW-Authenticate Authorization Authentication-Info"),
            (.proxy, 407, "Proxy-Authenticate Proxy-Authorization Proxy-Authentication-Info"),
        ])
    func `an origin and a proxy have fields of their own`(challenger: Challenger, status: Int, names: String) {
        #expect(challenger.status.code == status)
        #expect("\(challenger.challengeField) \(challenger.answerField) \(challenger.infoField)" == names)
    }
}
