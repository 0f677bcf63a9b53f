import Testing

@testable import DunlinSecure

@Suite struct `Groups for key exchange` {
    static let libraries: [([String], String)] = [
        (["*X25519MLKEM768", "*X25519", "X25519", "P-256"], "*X25519MLKEM768:*X25519:P-256:P-384:P-521"),
        // A provider may know the group and OpenSSL no stars.
        (["X25519MLKEM768", "X25519", "P-256"], "X25519:P-256:P-384:P-521"),
        (["X25519", "P-256"], "X25519:P-256:P-384:P-521"), (["P-256"], "X25519:P-256:P-384:P-521"),
    ]

    @Test(arguments: libraries) func `ML-KEM comes first where the library has it, and keys for both are sent at once`(
        known: [String], expected: String
    ) {
        let known = Set(known + ["P-384", "P-521"])
        #expect(
            KeyExchangeGroups.best { $0.split(separator: ":").allSatisfy { known.contains(String($0)) } } == expected)
    }

    @Test func `the library that is there takes the list that was chosen for it`() throws {
        #expect(KeyExchangeGroups.lists.contains(KeyExchangeGroups.preferred))
        _ = try TLSContext(TLSSettings())
    }
}
