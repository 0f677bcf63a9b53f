import Testing

@testable import DunlinTypes

@Suite struct Fingerprints {
    static let texts: [(String, Bool)] = [
        ("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", true),
        ("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=", false),
        ("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", false),
        ("sha256/47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=", false),
        ("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", false),
        ("sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", false), ("sha256/AAAA", false), ("sha256/", false),
        ("", false), ("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", false),
    ]

    @Test(arguments: texts)
    func `fingerprints are read as they are written, and no other way`(text: String, isPin: Bool) {
        #expect(Certificate.Fingerprint(text)?.description == (isPin ? text : nil))
    }

    static let encodings: [([UInt8], String)] = [
        ([], ""), ([0], "AA=="), ([255, 254], "//4="), (Array("foobar".utf8), "Zm9vYmFy"),
        (Array("fooba".utf8), "Zm9vYmE="),
    ]

    @Test(arguments: encodings)
    func `Base64 is encoded and decoded`(bytes: [UInt8], text: String) {
        #expect(Base64.encode(Bytes(bytes)) == text)
        #expect(Base64.decode(text.utf8) == bytes)
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=A", "A===", "====", "AB==", "AAB=", "AA==AAAA", "A A=", "AÄ=", "AA==" + "=",
    ])
    func `Base64 that nobody writes is refused`(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    static let moments: [(Int64, String)] = [
        (0, "1970-01-01 00:00:00 UTC"), (951_782_400, "2000-02-29 00:00:00 UTC"), (-1, "1969-12-31 23:59:59 UTC"),
        (1_714_564_800, "2024-05-01 12:00:00 UTC"), (4_107_542_399, "2100-02-28 23:59:59 UTC"),
        (253_402_300_799, "9999-12-31 23:59:59 UTC"), (.max, "9999-12-31 23:59:59 UTC"),
        (.min, "0000-01-01 00:00:00 UTC"), (-2_203_891_200, "1900-03-01 00:00:00 UTC"),
    ]

    @Test(arguments: moments)
    func `a moment is written as a date and time in UTC`(seconds: Int64, text: String) {
        #expect(CalendarText.utc(seconds) == text)
    }

    @Test func `fingerprints of certificates are written as openssl prints them`() throws {
        let digest = try #require(Certificate.Fingerprint("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="))
        #expect(digest.hexadecimal.hasPrefix("E3:B0:C4:42:98:FC:1C:14"))
        #expect(digest.hexadecimal.utf8.count == 95)
        #expect(Certificate.Fingerprint(digest.hexadecimal) == nil)
    }
}
