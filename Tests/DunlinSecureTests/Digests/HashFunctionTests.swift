import DunlinSecure
import DunlinTypes
import Testing

@Suite struct `A hash function` {
    /// FIPS 180-4, RFC 1321 §A.5; of 512 bits the first sixteen digits.
    @Test(arguments: [
        (HashFunction.md5, "", "d41d8cd98f00b204e9800998ecf8427e"), (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        // The example of RFC 6455 §1.3.
        (
            .sha1, "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11",
            "b37a4f2cc0624f1690f64606cf385945b2bec4ea"
        ),
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (.sha512, "", "cf83e1357eefb8bd"), (.sha512, "abc", "ddaf35a193617aba"),
        (.sha512of256, "", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        (.sha512of256, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
    func `a hash function makes the hashes of its standard`(function: HashFunction, text: String, hex: String) throws {
        let hash = try function.hash(of: Bytes(text))
        #expect(hash.hex.hasPrefix(hex))
        #expect(hash.count == function.byteCount)
    }

    private struct Enough: Error {}

    @Test(arguments: HashFunction.allCases, [0, 1, 1 << 20, (2 << 20) + 1])
    func `hashing in steps gives the same hash, and can be stopped between steps`(
        function: HashFunction, count: Int
    ) throws {
        let content = Bytes([UInt8](repeating: 5, count: count))
        var steps = 0
        let hash = try function.hash(of: content) { steps += 1 }
        #expect(try hash == function.hash(of: content))
        #expect(steps == (count + (1 << 20) - 1) >> 20)
        var left = steps
        guard steps > 0 else { return }
        #expect(throws: Enough.self) {
            try function.hash(of: content) {
                left -= 1
                if left == 0 { throw Enough() }
            }
        }
    }

    @Test func `SHA-512/256 is no part of SHA-512`() throws {
        let (long, short) = (try HashFunction.sha512.hash(of: "abc"), try HashFunction.sha512of256.hash(of: "abc"))
        #expect(long[0..<32] != short)
    }

    /// RFC 4231 §4.2, §4.3 and §4.7, and an empty key, whose code Python's `hmac` made.
    static let codes: [(key: [UInt8], message: String, sha256: String, sha512: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352"
                + "6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"
        ),
        (
            [], "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
            "b936cee86c9f87aa5d3c6f2e84cb5a4239a5fe50480a6ec66b70ab5b1f4ac673"
                + "0c6c515421b327ec1d69402e53dfb49ad7381eb067b338fd7b0cb22247225d47"
        ),
    ]

    @Test(arguments: codes)
    func `a message's code is that of RFC 4231`(key: [UInt8], message: String, sha256: String, sha512: String) throws {
        #expect(try HashFunction.sha256.code(of: Bytes(message), key: Bytes(key)).hex == sha256)
        #expect(try HashFunction.sha512.code(of: Bytes(message), key: Bytes(key)).hex == sha512)
    }

    @Test func `a slice is hashed, and used as a key, by its own bytes`() throws {
        let text: Bytes = "xabcx"
        #expect(try HashFunction.md5.hash(of: text[1..<4]) == HashFunction.md5.hash(of: "abc"))
        let code = try HashFunction.sha256.code(of: text[1..<4], key: text[1..<4])
        #expect(try code == HashFunction.sha256.code(of: "abc", key: "abc"))
    }
}
