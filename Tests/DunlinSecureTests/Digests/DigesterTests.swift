import DunlinSecure
import DunlinTypes
import Testing

@Suite struct `A digester` {
    static let digests: [(ContentDigest.Algorithm, String, String)] = [
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha512, "",
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        ),
        (
            .sha512, "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
    ]

    @Test(arguments: digests)
    func `a digester makes the digests of FIPS 180`(algorithm: ContentDigest.Algorithm, text: String, hex: String)
        throws
    {
        let digest = try Digester.digest(of: Bytes(text), algorithm)
        #expect(digest.hex == hex)
        #expect(try digest == ContentDigest(algorithm, hex: hex.uppercased()))
        #expect(digest.description == "\(algorithm):\(hex)")
    }

    @Test(arguments: ContentDigest.Algorithm.allCases)
    func `a digest does not depend on how the content is cut`(algorithm: ContentDigest.Algorithm) throws {
        let content = [UInt8](0..<200)
        let whole = try Digester.digest(of: Bytes(content), algorithm)
        for cut in content.indices {
            var digester = try Digester(algorithm)
            content[..<cut].withUnsafeBytes { digester.update($0) }
            digester.update(UnsafeRawBufferPointer(start: nil, count: 0))
            content[cut...].withUnsafeBytes { digester.update($0) }
            #expect(try digester.finish() == whole)
        }
    }

    @Test(arguments: ["", "e3", "zz", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85", "é"])
    func `a text that is no digest is refused`(hex: String) {
        #expect(throws: ContentDigest.Malformed.self) { try ContentDigest(.sha256, hex: hex) }
        let error = #expect(throws: ContentDigest.Malformed.self) {
            try ContentDigest(.sha256, hex: String(repeating: "g", count: 64))
        }
        #expect(error?.description == "a sha-256 digest has 64 hexadecimal digits, but this text has other characters")
        #expect(ContentDigest(.sha512, Bytes([1])) == nil)
    }
}
