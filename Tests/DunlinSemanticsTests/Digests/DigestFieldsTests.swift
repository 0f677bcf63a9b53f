import DunlinSemantics
import DunlinTypes
import Testing

@Suite struct `Digest fields` {
    private static let sha256 = ":47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
    private static let other = ":ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
    private static let sha512 =
        ":z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==:"

    private static func names(_ outcome: DigestFields) -> [String]? {
        switch outcome {
        case .none: []
        case .declared(let digests): digests.map { "\($0.algorithm) \(Base64.encode($0.bytes).prefix(2))" }
        case .malformed: nil
        }
    }

    static let values: [(String, [String])] = [
        ("sha-256=\(sha256)", ["sha-256 47"]), ("sha-512=\(sha512)", ["sha-512 z4"]),
        ("sha-256=\(sha256), sha-512=\(sha512)", ["sha-256 47", "sha-512 z4"]),
        ("sha-512=\(sha512)\t,\t sha-256=\(sha256)", ["sha-256 47", "sha-512 z4"]),
        ("  sha-256=\(sha256)  ", ["sha-256 47"]), ("sha-256=\(sha256.dropLast(2)):", ["sha-256 47"]),
        ("sha-256=\(sha256);a;b=1; c=\"x\\\"y\";d=?1;e=tok/en:x;f=:YQ==:", ["sha-256 47"]),
        ("sha-256=\(sha256),sha-256=\(other)", ["sha-256 un"]), ("md5=:YQ==:, sha-256=\(sha256)", ["sha-256 47"]),
        ("unixsum=30637", []), ("md5=:YQ==:", []), ("id-sha-256=\(sha256)", []), ("", []), ("   ", []),
        ("a, b;c, sha-256=\(sha256)", ["sha-256 47"]), ("a=(1 2.5 \"x\" :YQ==:;p=1 tok);q, b=()", []),
        ("a=-1.25, b=123456789012345, c=*x, *d=A1, e=?0", []),
    ]

    @Test(arguments: values)
    func `digest fields are read as RFC 8941 says`(value: String, expected: [String]) {
        #expect(Self.names(.representation(["Repr-Digest": value])) == expected)
        #expect(Self.names(.content(["content-digest": value])) == expected)
        #expect(Self.names(.content(["Repr-Digest": value])) == [])
    }

    @Test(arguments: [
        "sha-256", "sha-256=", "sha-256=1", "sha-256=abc", "sha-256=\"x\"", "sha-256=:YQ==:", "sha-256=::",
        "sha-256=:YQ==", "sha-256=YQ==:", "SHA-256=\(sha256)", "sha-256=\(sha256),", "sha-256=\(sha256),,a",
        ",sha-256=\(sha256)", "sha-256 =\(sha256)", "sha-256= \(sha256)", "sha-256=\(sha256) a", "sha-256=\(sha256);",
        "sha-256=\(sha256);A", "sha-256=\(sha256);a=", "sha-256=(\(sha256))", "\tsha-256=\(sha256)",
        "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=:",
        "sha-256=:47DEQpj8-BSa_/TImW5JCeuQeRkm5NMpJWZG3hSuFU=:",
        "sha-256=\(sha512)", "sha-512=\(sha256)", "a=1.", "a=1.2345", "a=1234567890123456", "a=1234567890123.1", "a=-",
        "a=?2", "a=\"x", "a=\"\\x\"", "a=\"\u{7F}\"", "a=(1", "a=(1,2)", "a=(1\"x\")", "a=@1", "1=1", "a=é", "\0",
    ])
    func `a malformed digest field is malformed as a whole`(value: String) {
        #expect(DigestFields.representation(["Repr-Digest": value]) == .malformed)
    }

    @Test func `digest fields may stand on several lines`() throws {
        let fields: Fields = ["Repr-Digest": "sha-256=\(Self.sha256)", "repr-digest": "sha-512=\(Self.sha512)"]
        let outcome = DigestFields.representation(fields)
        #expect(Self.names(outcome) == ["sha-256 47", "sha-512 z4"])
        #expect(outcome.strongest?.algorithm == .sha512)
        #expect(DigestFields.representation([:]) == .none)
        #expect(DigestFields.none.strongest == nil)
        let empty = try #require(DigestFields.representation(["Repr-Digest": "sha-256=\(Self.sha256)"]).strongest)
        #expect(empty.hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}
