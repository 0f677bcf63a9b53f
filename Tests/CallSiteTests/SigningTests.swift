import Dunlin
import DunlinTesting
import FoundationEssentials
import Testing

/// Codes and digests of bodies, as users make them.
@Suite(.timeLimit(.minutes(10)))
struct `Call sites of signatures` {
    @Test func `a request carries the code of its body`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond() }
        let client = try HTTPSession(.init(baseURL: "http://api.test/", transport: transport))
        // RFC 4231 §4.3.
        let (key, order): (Bytes, Bytes) = ("Jefe", "what do ya want for nothing?")

        let signature = try HTTP.HMAC(.sha256, key: key).code(of: order)
        try await client.post(
            "orders", fields: ["X-Signature": signature.hex],
            body: .bytes(order, contentType: "application/json"))

        let sent = try #require(transport.requests.first)
        #expect(
            sent.fields["x-signature"] == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func `a code is that of one message, one key and one algorithm`() throws {
        let hmac = HTTP.HMAC(.sha256, key: "Jefe")
        let code = try hmac.code(of: "order")
        #expect(try hmac.isCode(code, of: "order"))
        #expect(try !hmac.isCode(code, of: "another"))
        #expect(try !hmac.isCode(code[0..<31], of: "order"))
        #expect(try !hmac.isCode(.empty, of: "order"))
        #expect(try !HTTP.HMAC(.sha256, key: "jefe").isCode(code, of: "order"))
        #expect(try !HTTP.HMAC(.sha512, key: "Jefe").isCode(code, of: "order"))
        #expect(hmac.algorithm == .sha256 && code.count == 32)
    }

    @Test func `bytes in what is signed are signed, and not their length`() throws {
        let hmac = HTTP.HMAC(.sha256, key: "Jefe")
        let (time, body, other): (Int, Bytes, Data) = (7, "{}", Data("[]".utf8))
        let code = try hmac.code(of: "7.{}")
        #expect(try hmac.code(of: "\(time).\(body)") == code)
        #expect(try hmac.code(of: Bytes("\(time).\(body)")) == code)
        #expect(try hmac.isCode(code, of: "\(time)." + body))
        #expect(try !hmac.isCode(code, of: "\(time).\(other)"))
        let json: DynamicValue = ["body": "\(time).\(body)"]
        #expect(json == ["body": "7.{}"])
    }

    @Test func `no description shows the key`() {
        let hmac = HTTP.HMAC(.sha512, key: "Jefe")
        var dumped = ""
        dump(hmac, to: &dumped)
        #expect("\(hmac) \(String(reflecting: hmac))" == "HMAC by sha-512 HMAC by sha-512")
        #expect(!dumped.contains("key") && !dumped.contains("4 bytes"))
    }

    @Test func `a digest is made of bytes, and bytes are written as digits`() throws {
        let digest = try ContentDigest(.sha256, of: "abc")
        #expect(digest.description == "sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(try ContentDigest(.sha512, of: .empty).hex.hasPrefix("cf83e1357eefb8bd"))
        #expect(Bytes([0x00, 0x0F, 0xA0, 0xFF]).hex == "000fa0ff" && Bytes.empty.hex == "")
    }
}
