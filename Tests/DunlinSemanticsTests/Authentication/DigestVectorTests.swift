import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

/// Values that are printed in RFCs, and others that Python's hashlib made of the formulas in RFC 7616 §3.4.
@Suite struct `Digest answers, byte by byte` {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `an answer is that of RFC 7616 §3.9.1`(algorithm: String, response: String) throws {
        var machine = try DigestMachine("Mufasa", "Circle of Life")
        let challenge = try digestChallenge(
            #"""
            realm="http-auth@example.org", qop="auth, auth-int", algorithm=\#(algorithm), nonce="\#(Self.nonce)", \#
            opaque="\#(Self.opaque)"
            """#)
        #expect(machine.challenged(challenge) == .answer(.challenged))
        #expect(
            try machine.get("/dir/index.html", Self.clientNonce).value == #"""
                Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", \#
                algorithm=\#(algorithm), nonce="\#(Self.nonce)", nc=00000001, \#
                cnonce="\#(Self.clientNonce)", qop=auth, response="\#(response)", opaque="\#(Self.opaque)"
                """#)
    }

    /// What the RFC prints (488869477bf257147b804c45308cd62a…, ae66e67d6b427bd3f120414a82e4acff…) is made with the
    /// first half of SHA-512, as hashlib shows; by erratum 4897 it is to be SHA-512/256, as the algorithm's name says.
    @Test(arguments: [
        (
            "userhash=true", #"username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b""#,
            ", userhash=true"
        ), ("userhash=false", "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe", ""),
    ])
    func `an answer is that of RFC 7616 §3.9.2, corrected`(userhash: String, user: String, end: String) throws {
        let nonce = "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"
        let opaque = "HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS"
        let clientNonce = "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        var machine = try DigestMachine("J\u{E4}s\u{F8}n Doe", "Secret, or not?")
        let challenge = try digestChallenge(
            #"""
            realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="\#(nonce)", opaque="\#(opaque)", \#
            charset=UTF-8, \#(userhash)
            """#)
        #expect(machine.challenged(challenge) == .answer(.challenged))
        #expect(
            try machine.get("/doe.json", clientNonce).value == #"""
                Digest \#(user), realm="api@example.org", uri="/doe.json", algorithm=SHA-512-256, nonce="\#(nonce)", \#
                nc=00000001, cnonce="\#(clientNonce)", qop=auth, \#
                response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", opaque="\#(opaque)"\#(end)
                """#)
    }

    /// The correction of RFC 2069's own example, and the example of RFC 2617 §3.5.
    @Test(arguments: [
        ("CircleOfLife", "", "1949323746fe6a43ef61f9606e7febea"),
        ("Circle Of Life", #"nc=00000001, cnonce="0a4f113b", qop=auth, "#, "6629fae49393a05397450978507c4ef1"),
    ])
    func `an answer to an old challenge names no algorithm`(password: String, use: String, response: String) throws {
        let common = #"nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", "#
        var machine = try DigestMachine("Mufasa", password)
        let quality = use.isEmpty ? "x=y" : #"qop="auth,auth-int""#
        let challenge = try digestChallenge(#"realm="testrealm@host.com", \#(common)\#(quality)"#)
        #expect(machine.challenged(challenge) == .answer(.challenged))
        #expect(
            try machine.get("/dir/index.html", "0a4f113b").value == #"""
                Digest username="Mufasa", realm="testrealm@host.com", uri="/dir/index.html", \#(common)\#(use)\#
                response="\#(response)"
                """#)
    }

    static let computed: [(String, String, String)] = [
        ("MD5", "auth", "af1058d082a959fb86d49da3919574c4"), ("MD5", "auth-int", "a7a3d702f7dc0fb7545b60d8276fb7c3"),
        ("MD5-sess", "auth", "6f4318673e458d6e8e38b57ba0b2cee2"),
        ("MD5-sess", "auth-int", "d58ac2c39289a13e0ba4ae3de2790461"),
        ("SHA-256", "auth", "aa33a1cc1a1ebcf28956760223782329b8ab87255c9d4dd5d003ff18c40c1f1f"),
        ("SHA-256", "auth-int", "bdaf16507acd3cc9913b8d7113ad8cbd644f209ec8f867774adcc77bd1328942"),
        ("SHA-256-sess", "auth", "0e0d5a969bdd591d37409277fbfa2a6abab17ff61ec2cb384b36c7e010bcaabb"),
        ("SHA-256-sess", "auth-int", "f35ff0122fb52e86af3effe7375e5cd3ac2502b9a4cce33e12f65c38375a032b"),
        ("SHA-512-256", "auth", "9710b5c449f754b7a708030d4d7a24c17428a79c6769f125d58f118c7ce853f4"),
        ("SHA-512-256", "auth-int", "50d1ea4005062301a076624423a73bee4d0cc8a42d42d30c5cfd4ffae8dbe766"),
        ("SHA-512-256-sess", "auth", "91702c818b9a3b879f64498f007e4e4d95d7de8b7ce3f5db2844d3c0269fc6dc"),
        ("SHA-512-256-sess", "auth-int", "def1b876d0faa2cc0dc25ed30687e9d3f11949ec1af4bc2311d204ae3f402267"),
    ]

    /// Quotes and backslashes are hashed as they are and sent with a backslash before them.
    @Test(.rules("9110-5.6.4-2"), arguments: computed)
    func `an answer has the response of its algorithm and quality`(
        algorithm: String, quality: String, response: String
    ) throws {
        var machine = try DigestMachine("ada", #"s:e"c\"#)
        let challenge = try digestChallenge(
            #"realm="r \"1\\", nonce=n0, qop="\#(quality)", algorithm=\#(algorithm)"#)
        #expect(machine.challenged(challenge) == .answer(.challenged))
        let bodyHash = machine.bodyHashFunction.flatMap { hashing($0, "body") }
        #expect((bodyHash == nil) == (quality == "auth"))
        let request = DigestRequest(method: .post, target: "/p?q=1", bodyHash: bodyHash)
        #expect(
            try machine.answer(request, clientNonce: "c0").value == #"""
                Digest username="ada", realm="r \"1\\", uri="/p?q=1", algorithm=\#(algorithm), nonce="n0", \#
                nc=00000001, cnonce="c0", qop=\#(quality), response="\#(response)"
                """#)
    }

    @Test func `a session's key is made once, of the first nonces`() throws {
        var machine = try DigestMachine("ada", #"s:e"c\"#)
        let challenge = try digestChallenge(#"realm="r \"1\\", nonce=n0, qop=auth, algorithm=SHA-256-sess"#)
        #expect(machine.challenged(challenge) == .answer(.challenged))
        let request = DigestRequest(method: .post, target: "/p?q=1")
        let first = try machine.answer(request, clientNonce: "c0")
        let second = try machine.answer(request, clientNonce: "c1")
        #expect(second.clientNonce == "c0" && second.count == "00000002")
        #expect(second.value.contains("3ff0a67aea928dab741fe8042a4042ea7e3a3802744cc444aeaaeb068d6e8f45"))
        let info = try #require(AuthenticationInfo(["nextnonce=n1"]))
        #expect(machine.confirmed(info, of: first) == .unproven)
        let third = try machine.answer(request, clientNonce: "c2")
        #expect(third.nonce == "n1" && third.count == "00000001")
        #expect(third.value.contains("885057e3d1881285ac351eb9671518387311bb196bcb464e9537d4c54defdbf2"))
    }
}
