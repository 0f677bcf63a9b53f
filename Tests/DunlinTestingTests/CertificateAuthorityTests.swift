import DunlinTesting
import DunlinTypes
import Foundation
import Testing

/// A chain to be judged, and how the `openssl` command judges it.
private struct Verdict: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Part of what it prints.
    let expected: String
    var options: [String] = []
    let issue: @Sendable (CertificateAuthority) throws -> IssuedCertificate

    init(
        _ name: String, _ expected: String, _ options: [String] = [],
        _ issue: @escaping @Sendable (CertificateAuthority) throws -> IssuedCertificate
    ) {
        testDescription = name
        self.expected = expected
        self.options = options
        self.issue = issue
    }
}

private let host = ["-verify_hostname", "api.test"]

private let verdicts: [Verdict] = [
    Verdict("good", "leaf.pem: OK", host) { try $0.issue(.server("api.test")) },
    Verdict("below an intermediate", "leaf.pem: OK", host) { try $0.intermediate().issue(.server("api.test")) },
    Verdict("below two", "leaf.pem: OK", host) { try $0.intermediate().intermediate().issue(.server("api.test")) },
    Verdict("several names", "leaf.pem: OK", host) { try $0.issue(.server("www.test", "api.test")) },
    Verdict("wildcard", "leaf.pem: OK", ["-verify_hostname", "a.api.test"]) { try $0.issue(.server("*.api.test")) },
    Verdict("IPv4", "leaf.pem: OK", ["-verify_ip", "127.0.0.1"]) { try $0.issue(.server("127.0.0.1")) },
    Verdict("IPv6", "leaf.pem: OK", ["-verify_ip", "::1"]) { try $0.issue(.server("::1")) },
    Verdict("client", "leaf.pem: OK", ["-purpose", "sslclient"]) { try $0.issue(.client("Ada")) },
    Verdict("RSA", "leaf.pem: OK", host) { try $0.issue(.server("api.test").with(.rsa2048)) },
    Verdict("Ed25519", "leaf.pem: OK", host) { try $0.issue(.server("api.test").with(.ed25519)) },
    Verdict("P-384", "leaf.pem: OK", host) { try $0.issue(.server("api.test").with(.p384)) },
    Verdict("within its constraints", "leaf.pem: OK", host) {
        try $0.intermediate(.authority("Test").permitting("test", "10.0.0.0/8")).issue(.server("api.test"))
    },
    Verdict("expired", "certificate has expired") { try $0.issue(.server("api.test").expired) },
    Verdict("not yet valid", "certificate is not yet valid") { try $0.issue(.server("api.test").notYetValid) },
    Verdict("wrong name", "hostname mismatch", host) { try $0.issue(.server("www.test")) },
    Verdict("wrong address", "IP address mismatch", ["-verify_ip", "127.0.0.2"]) { try $0.issue(.server("127.0.0.1")) },
    Verdict("weak key", "EE certificate key too weak") { try $0.issue(.server("api.test").withWeakKey) },
    Verdict("missing intermediate", "unable to get local issuer certificate") {
        try $0.intermediate().issue(.server("api.test")).withoutIntermediates
    },
    Verdict("self-signed", "self-signed certificate") { _ in try .selfSigned(.server("api.test")) },
    Verdict("somebody else's", "unable to get local issuer certificate") { _ in
        try CertificateAuthority(.authority("Another root")).issue(.server("api.test"))
    },
    Verdict("not permitted", "permitted subtree violation") {
        try $0.intermediate(.authority("Test").permitting("other.test")).issue(.server("api.test"))
    },
    Verdict("excluded", "excluded subtree violation") {
        try $0.intermediate(.authority("Test").excluding("api.test")).issue(.server("api.test"))
    },
    Verdict("address not permitted", "permitted subtree violation") {
        try $0.intermediate(.authority("Test").permitting("10.0.0.0/8")).issue(.server("11.0.0.1"))
    },
    Verdict("below no authority", "invalid CA certificate") {
        try $0.intermediate(.authority("Test").withoutAuthority).issue(.server("api.test"))
    },
    Verdict("path too long", "path length constraint exceeded") {
        try $0.intermediate(.authority("Test").pathLength(0)).intermediate().issue(.server("api.test"))
    },
    Verdict("a client's as a server's", "unsuitable certificate purpose") { try $0.issue(.client("api.test")) },
    Verdict("signed over SHA-1", "CA signature digest algorithm too weak") {
        try $0.intermediate(.authority("Test").signedOverSHA1).issue(.server("api.test"))
    },
]

@Suite(.needsOpenSSLTool, .timeLimit(.minutes(10))) struct CertificateAuthorityTests {
    @Test(arguments: verdicts) private func `openssl reads a certificate as it was asked for`(
        _ verdict: Verdict
    ) async throws {
        let authority = try CertificateAuthority()
        let issued = try verdict.issue(authority)
        let tool = try OpenSSLTool()
        try tool.write(authority.pem, as: "root.pem")
        try tool.write(issued.pem, as: "leaf.pem")
        try tool.write(issued.chainPEM, as: "chain.pem")
        let purpose = verdict.options.contains("-purpose") ? [] : ["-purpose", "sslserver"]
        let result = try await tool.run(
            ["verify", "-x509_strict", "-auth_level", "2", "-CAfile", "root.pem", "-untrusted", "chain.pem"] + purpose
                + verdict.options + ["leaf.pem"])
        #expect(result.text.contains(verdict.expected), "\(result.text)")
        #expect((result.status == 0) == verdict.expected.hasSuffix("OK"))
    }

    @Test func `a common name alone leaves no alternative name`() async throws {
        let text = try await describe(CertificateAuthority().issue(.server("api.test").commonNameOnly))
        #expect(text.contains("Subject: CN = api.test"))
        #expect(!text.contains("Subject Alternative Name"))
    }

    @Test func `a certificate may carry years on both sides of 2050`() async throws {
        let century = Duration.seconds(36_525 * 86_400)
        let text = try await describe(
            CertificateAuthority().issue(.server("api.test").valid(from: .zero - century, until: century)))
        let dates = text.matches(of: /Not (?:Before|After ?) ?: .* (\d{4}) GMT/).compactMap { Int($0.1) }
        #expect(dates.count == 2 && dates.first.map { $0 < 1950 } == true && dates.last.map { $0 > 2100 } == true)
    }

    @Test(arguments: [SignatureDigest.sha1, .md5]) func `a root's key signs over broken digests`(
        digest: SignatureDigest
    ) async throws {
        var template = CertificateTemplate.server("api.test")
        template.digest = digest
        let authority = try CertificateAuthority(.authority("Test").with(.rsa2048))
        let text = try await describe(authority.issue(template))
        #expect(text.contains("\(digest)WithRSAEncryption"))
    }

    @Test func `the pin is the digest of the public key info`() async throws {
        let issued = try CertificateAuthority().issue(.server("api.test"))
        let tool = try OpenSSLTool()
        try tool.write(issued.key.publicKeyInfo, as: "key.der")
        let result = try await tool.run("dgst", "-sha256", "-r", "key.der")
        let expected = result.text.prefix(64)
        #expect(try Self.hex(fromPin: issued.pin) == expected)
    }

    @Test func `a renewed certificate keeps its pin`() throws {
        let authority = try CertificateAuthority()
        let first = try authority.issue(.server("api.test"))
        let second = try authority.issue(.server("api.test").with(first.key))
        #expect(try first.pin == second.pin)
        #expect(first.der != second.der)
    }

    @Test func `slow keys are made once`() throws {
        let authority = try CertificateAuthority()
        let pins = try (0..<2).map { _ in try authority.issue(.server("api.test").with(.rsa2048)).pin }
        #expect(pins[0] == pins[1])
        let quick = try (0..<2).map { _ in try authority.issue(.server("api.test")).pin }
        #expect(quick[0] != quick[1])
    }

    @Test(arguments: CertificateAuthority.Key.Kind.allCases)
    func `a key is read by openssl, in the clear and encrypted`(kind: CertificateAuthority.Key.Kind) async throws {
        let key = try CertificateAuthority.Key.shared(kind)
        let tool = try OpenSSLTool()
        try tool.write(key.pem, as: "clear.pem")
        try tool.write(key.pem(passphrase: "secret"), as: "locked.pem")
        for (name, passphrase, isRead) in [("locked", "no", false), ("clear", "", true), ("locked", "secret", true)] {
            let result = try await tool.run(
                "pkey", "-in", "\(name).pem", "-passin", "pass:\(passphrase)", "-pubout", "-outform", "DER", "-out",
                "public.der")
            #expect((result.status == 0) == isRead, "\(name) \(passphrase) \(result.text)")
        }
        let digest = try await tool.run("dgst", "-sha256", "-r", "public.der").text.prefix(64)
        #expect(try Self.hex(fromPin: key.pin) == digest)
    }

    @Test func `a PKCS 12 file holds certificate, intermediate and key`() async throws {
        let issued = try CertificateAuthority().intermediate().issue(.client("Ada"))
        let tool = try OpenSSLTool()
        try tool.write(issued.pkcs12(passphrase: "secret"), as: "store.p12")
        let text = try await tool.run("pkcs12", "-in", "store.p12", "-passin", "pass:secret", "-nodes").text
        #expect(text.components(separatedBy: "BEGIN CERTIFICATE").count == 3)
        #expect(text.contains(try issued.privateKeyPEM))
        let refused = try await tool.run("pkcs12", "-in", "store.p12", "-passin", "pass:wrong", "-nodes")
        #expect(refused.status != 0)
    }

    @Test func `a PKCS 12 file is refused for a key that does not fit its certificate`() throws {
        let issued = try CertificateAuthority().issue(.client("Ada")).with(CertificateAuthority.Key())
        #expect(throws: AuthorityError.self) { try issued.pkcs12(passphrase: "secret") }
    }

    @Test func `a certificate with a forged key keeps its own pin`() throws {
        let issued = try CertificateAuthority().issue(.server("api.test"))
        let forged = try issued.withForgedKey()
        #expect(try forged.pin == issued.pin)
        #expect(try forged.privateKeyPEM != issued.privateKeyPEM)
        #expect(throws: AuthorityError.self) {
            try IssuedCertificate.selfSigned(.server("a").with(.ed25519)).withForgedKey()
        }
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/x", "::/129"])
    func `a text that is no network is refused`(name: String) throws {
        let authority = try CertificateAuthority()
        #expect(throws: AuthorityError.self) { try authority.intermediate(.authority("Test").permitting(name)) }
    }

    private func describe(_ issued: IssuedCertificate) async throws -> String {
        let tool = try OpenSSLTool()
        try tool.write(issued.pem, as: "leaf.pem")
        return try await tool.run("x509", "-in", "leaf.pem", "-noout", "-text").text
    }

    private static func hex(fromPin pin: String) throws -> String {
        let digest = try #require(Data(base64Encoded: String(pin.dropFirst("sha256/".count))))
        return digest.map { String(format: "%02x", $0) }.joined()
    }
}

@Suite(.needsOpenSSLTool, .timeLimit(.minutes(10))) struct RevocationTests {
    @Test func `a list revokes what it names and nothing else`() async throws {
        let authority = try CertificateAuthority()
        let good = try authority.issue(.server("good.test"))
        let bad = try authority.issue(.server("bad.test"))
        let tool = try OpenSSLTool()
        try tool.write(authority.pem, as: "root.pem")
        try tool.write(authority.revocationList(revoking: bad).pem, as: "list.pem")
        for (issued, expected) in [(good, "leaf.pem: OK"), (bad, "certificate revoked")] {
            try tool.write(issued.pem, as: "leaf.pem")
            let text = try await tool.run(
                "verify", "-x509_strict", "-crl_check", "-CRLfile", "list.pem", "-CAfile", "root.pem", "leaf.pem"
            ).text
            #expect(text.contains(expected), "\(text)")
        }
    }

    @Test func `an old list is noticed, and an empty one is a list`() async throws {
        let authority = try CertificateAuthority()
        let tool = try OpenSSLTool()
        try tool.write(authority.pem, as: "root.pem")
        try tool.write(authority.issue(.server("api.test")).pem, as: "leaf.pem")
        for (validity, expected) in [(Duration.seconds(60), "leaf.pem: OK"), (.seconds(-60), "CRL has expired")] {
            try tool.write(authority.revocationList(validUntil: validity).pem, as: "list.pem")
            let text = try await tool.run(
                "verify", "-crl_check", "-CRLfile", "list.pem", "-CAfile", "root.pem", "leaf.pem"
            ).text
            #expect(text.contains(expected), "\(text)")
        }
    }

    @Test(arguments: [RevocationStatus.good, .revoked, .unknown], [false, true])
    func `a staple has the status that it was made with`(status: RevocationStatus, isDelegated: Bool) async throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issue(.server("api.test"))
        let responder = isDelegated ? try authority.issue(.statusResponder("Status")) : nil
        let tool = try OpenSSLTool()
        try tool.write(authority.pem, as: "root.pem")
        try tool.write(issued.pem, as: "leaf.pem")
        try tool.write(authority.staple(status, for: issued, signedBy: responder), as: "staple.der")
        let result = try await tool.run(
            "ocsp", "-issuer", "root.pem", "-cert", "leaf.pem", "-respin", "staple.der", "-CAfile", "root.pem",
            "-no_nonce")
        #expect(result.text.contains("Response verify OK"), "\(result.text)")
        #expect(result.text.contains("leaf.pem: \(status)"), "\(result.text)")
    }

    @Test func `a stale staple is noticed`() async throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issue(.server("api.test"))
        let tool = try OpenSSLTool()
        try tool.write(authority.pem, as: "root.pem")
        try tool.write(issued.pem, as: "leaf.pem")
        try tool.write(authority.staple(.good, for: issued, validUntil: .seconds(-3600)), as: "staple.der")
        let text = try await tool.run(
            "ocsp", "-issuer", "root.pem", "-cert", "leaf.pem", "-respin", "staple.der", "-CAfile", "root.pem",
            "-no_nonce"
        ).text
        #expect(text.contains("status expired"), "\(text)")
    }
}
