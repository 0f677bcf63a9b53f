import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

@testable import DunlinSecure

@Suite struct Refusals {
    let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
    }

    private func text(_ chain: [Bytes], roots: [Bytes]? = nil) throws -> String {
        let decision = try decide(chain, roots: roots ?? [authority.certificate.der])
        return try #require(decision.refusal).description
    }

    @Test(.rows("G-8", "SP-25")) func `a refusal says what a person can act on`() throws {
        let late = try authority.issue(.server("api.test").expired)
        let early = try authority.issue(.server("api.test").notYetValid)
        let own = try IssuedCertificate.selfSigned(.server("api.test"))
        let texts: [(String, String)] = [
            (
                try text(late.chain),
                "the certificate of api.test expired on \(CalendarText.utc(Int64(late.notAfter)))"
            ),
            (
                try text(early.chain),
                "the certificate of api.test is not valid before \(CalendarText.utc(Int64(early.notBefore)))"
            ),
            (
                try text(authority.issue(.server("a.test", "b.test", "127.0.0.1")).chain),
                "the certificate is for a.test, b.test, 127.0.0.1, not for api.test"
            ),
            (
                try text(authority.issue(.server("api.test").commonNameOnly).chain),
                "the certificate of api.test names no host; its common name is ignored"
            ),
            (
                try text(authority.intermediate().issue(.server("api.test")).chain, roots: []),
                "the chain of api.test ends at an unknown issuer: CN=Dunlin test root"
            ),
            (try text(own.chain), "the certificate of api.test is self-signed and not trusted: CN=api.test"),
            (
                try text(authority.issue(.server("api.test").withWeakKey).chain),
                "the certificate of api.test has a key that is too weak: RSA 1024"
            ),
            (
                try text(authority.intermediate(.authority("Late").expired).issue(.server("api.test")).chain)
                    .prefix(64).description,
                "an authority in the chain of api.test, CN=Late, expired on"
            ),
            (try text([]), "api.test sent no certificate"),
        ]
        for (text, beginning) in texts { #expect(text.hasPrefix(beginning), "\(text)") }
    }

    @Test(arguments: NetworkError.TrustRefusal.Reason.allCases)
    func `a refusal names the host, whatever the reason and however little is known`(
        reason: NetworkError.TrustRefusal.Reason
    ) throws {
        let whole = NetworkError.TrustRefusal(
            reason, host: "api.test", depth: 2, certificate: authority.certificate.certificate, detail: "more")
        for refusal in [NetworkError.TrustRefusal(reason, host: "api.test"), whole] {
            #expect(refusal.description.contains("api.test"))
            #expect(!refusal.description.contains("handshake"))
        }
        #expect(whole.description.hasSuffix("(more)"))
    }

    @Test func `a refusal does not grow with what a server sends`() throws {
        let names = (0..<500).map { "host-\($0).test" }
        var template = CertificateTemplate.server("x.test")
        template.names = names
        template.commonName = String(repeating: "n", count: 60)
        let text = try text(authority.issue(template).chain)
        #expect(text.contains("host-7.test and 492 more"))
        #expect(text.utf8.count < 300)
    }

    @Test func `a refusal shows nothing of a subject that drives a terminal or turns the line`() throws {
        let name = "a\u{1B}[2J\u{9B}2J\u{202E}b\u{2066}c\u{200F}\u{61C}\u{2028}d"
        let authority = try CertificateAuthority(.authority(name))
        let chain = try authority.issue(.server("api.test")).chain
        let refusal = try #require(try decide(chain, roots: []).refusal)
        let certificate = try #require(authority.certificate.certificate)
        for text in [refusal.description, certificate.description, certificate.details.subject] {
            let isClean = text.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
            #expect(isClean, "\(text.debugDescription)")
            #expect(text.contains("[2J2Jbc d"))
        }
    }

    @Test func `a refusal shows nothing of a name but printable ASCII`() throws {
        var template = CertificateTemplate.server("x.test")
        template.names = ["a\u{1B}[2J.test", "b\0.test"]
        let text = try text(authority.issue(template).chain)
        #expect(text == "the certificate is for a?[2J.test, b?.test, not for api.test")
    }
}
