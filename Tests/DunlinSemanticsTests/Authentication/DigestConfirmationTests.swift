import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

/// RFC 7616 §3.5, for the answers of §3.9.1. Python's hashlib made the proofs.
@Suite struct `Confirmations of Digest answers` {
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let proof = "86d3b25618d41854ca5039a5d7e53ff6355d5134a9b1fb088a78ac3c462195a0"
    private static let bodyProof = "321792e3b6d15d49cb353cdc72f9cb50758a6673121eaeac0d7c912dae40bc19"

    private var machine: DigestMachine
    private let answer: DigestAnswer

    init() throws {
        machine = try DigestMachine("Mufasa", "Circle of Life")
        let challenge = try digestChallenge(
            #"""
            realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", algorithm=SHA-256, \#
            qop="auth, auth-int"
            """#)
        _ = machine.challenged(challenge)
        answer = try machine.get("/dir/index.html", Self.clientNonce)
    }

    static let words: [(String, String?, DigestMachine.Confirmation)] = [
        (#"rspauth="\#(proof)", qop=auth, nc=00000001, cnonce="\#(clientNonce)""#, nil, .proven),
        (#"rspauth="\#(proof)""#, nil, .proven), ("RSPAUTH=\(proof.uppercased()), QOP=\"AUTH\"", nil, .proven),
        (#"rspauth="\#(bodyProof)", qop=auth-int"#, "hello", .proven),
        (#"rspauth="\#(bodyProof)", qop=auth-int"#, "hell", .wrong(.wrongProof)),
        (#"rspauth="\#(bodyProof)", qop=auth-int"#, nil, .unproven),
        (#"rspauth="\#(bodyProof)", qop=auth"#, "hello", .wrong(.wrongProof)),
        (#"rspauth="\#(proof.dropLast())", qop=auth"#, nil, .wrong(.wrongProof)),
        (#"rspauth="""#, nil, .wrong(.wrongProof)), (#"rspauth="\#(proof)", qop=x"#, nil, .wrong(.otherAnswer)),
        (#"rspauth="\#(proof)", nc=00000002"#, nil, .wrong(.otherAnswer)),
        (#"rspauth="\#(proof)", nc=1"#, nil, .wrong(.otherAnswer)),
        (#"rspauth="\#(proof)", cnonce="f2""#, nil, .wrong(.otherAnswer)),
        ("nc=00000002", nil, .wrong(.otherAnswer)), ("nextnonce=x", nil, .unproven), ("", nil, .unproven),
        ("qop=auth, nc=00000001", nil, .unproven), ("unknown=x", nil, .unproven),
    ]

    @Test(.rules("9110-11.6.3-1"), arguments: words)
    func `an rspauth that is wrong makes the response invalid`(
        field: String, body: String?, expected: DigestMachine.Confirmation
    ) throws {
        var machine = machine
        let info = try #require(AuthenticationInfo(["Authentication-Info": field], from: .origin))
        let bodyHash = body.flatMap { hashing(.sha256, Bytes($0)) }
        #expect(machine.confirmed(info, of: answer, bodyHash: bodyHash) == expected)
    }

    @Test(.rules("9110-11.6.3-1")) func `the next nonce is answered with from now on, and counted from 1`() throws {
        var machine = machine
        let info = try #require(AuthenticationInfo([Bytes("nextnonce=\"n\\\"2\", rspauth=\(Self.proof)")]))
        #expect(machine.confirmed(info, of: answer) == .proven)
        let next = try machine.get("/x", "c2")
        #expect(next.nonce == "n\"2" && next.count == "00000001" && next.value.contains(#"nonce="n\"2", nc=00000001"#))
    }

    @Test func `a wrong rspauth changes no nonce, and an empty nextnonce is ignored`() throws {
        var machine = machine
        for field in ["nextnonce=n2, rspauth=00", "nextnonce=\"\", rspauth=\(Self.proof)"] {
            _ = machine.confirmed(try #require(AuthenticationInfo([Bytes(field)])), of: answer)
        }
        let next = try machine.get("/x", "c2")
        #expect(next.nonce == answer.nonce && next.count == "00000002")
        #expect(next.value.contains("nc=00000002, cnonce=\"c2\""))
    }

    @Test func `an Authentication-Info for another realm changes no nonce`() throws {
        var machine = machine
        #expect(machine.challenged(try digestChallenge("realm=b, nonce=n, qop=auth")) == .answer(.challenged))
        let info = try #require(AuthenticationInfo(["nextnonce=n2"]))
        #expect(machine.confirmed(info, of: answer) == .unproven)
        #expect(machine.challenge?.nonce == "n")
    }

    @Test func `an answer without qop cannot be confirmed by the server`() throws {
        var machine = try DigestMachine()
        #expect(machine.challenged(try digestChallenge("realm=r, nonce=n")) == .answer(.challenged))
        let old = try machine.get()
        #expect(old.quality == nil)
        #expect(machine.confirmed(try #require(AuthenticationInfo(["rspauth=00, nextnonce=m"])), of: old) == .unproven)
        #expect(machine.challenge?.nonce == "m")
    }

    @Test(.rules("9110-11.7.3-1")) func `a proxy has a field of its own, and several fields are one`() {
        let fields: Fields = [
            "Proxy-Authentication-Info": "nextnonce=a", "proxy-authentication-info": ",, nc=00000001,",
        ]
        let info = AuthenticationInfo(fields, from: .proxy)
        #expect(info?.nextNonce == "a" && info?.count == "00000001")
        #expect(AuthenticationInfo(fields, from: .origin) == nil)
    }

    @Test(arguments: [
        "nextnonce", "nextnonce=", "nextnonce=a, NextNonce=b", "nextnonce=\"a", "nextnonce=a b", "nextnonce=\"a\u{1}\"",
        "=a", "\"a\"", "nextnonce=a; nc=1", (0..<40).map { "p\($0)=v" }.joined(separator: ","),
        "nextnonce=" + String(repeating: "x", count: 20_000),
    ])
    func `an Authentication-Info field that cannot be read is ignored`(field: String) {
        #expect(AuthenticationInfo([Bytes(field)]) == nil)
    }

    @Test func `an Authentication-Info field that is not UTF-8 is ignored`() {
        #expect(AuthenticationInfo([Bytes(Array("nextnonce=\"".utf8) + [0xFC, 0x22])]) == nil)
    }
}
