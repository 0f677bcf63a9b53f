import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `Strict and compatible rules for certificates` {
    let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
    }

    private func decision(
        _ template: CertificateTemplate, isStrict: Bool = true, roots: [Bytes]? = nil, host: String = "api.test"
    ) throws -> HTTP.TrustDecision {
        let chain = try authority.issue(template).chain
        return try decide(chain, for: host, roots: roots ?? [authority.certificate.der]) { $0.isStrict = isStrict }
    }

    @Test func `a certificate without its authority's key identifier is refused to the letter, and with the way out`()
        throws
    {
        let strict = try #require(decision(.server("api.test").withoutAuthorityKey).refusal)
        #expect(strict.reason == .malformed && strict.others.isEmpty)
        #expect(strict.description.contains("Missing Authority Key Identifier"))
        #expect(strict.description.contains("`SecurityPolicy.certificateRules = .compatible` accepts that"))
        #expect(try Verdict(decision(.server("api.test").withoutAuthorityKey, isStrict: false)) == .accepted)
    }

    @Test func `an intermediate without its authority's key identifier is refused to the letter alone`() throws {
        let chain = try authority.intermediate(.authority("Handmade").withoutAuthorityKey)
            .issue(.server("api.test")).chain
        for (isStrict, verdict) in [(true, Verdict.refused(.malformed)), (false, .accepted)] {
            let decision = try decide(chain, roots: [authority.certificate.der]) { $0.isStrict = isStrict }
            #expect(Verdict(decision) == verdict)
        }
    }

    static let faults: [(String, CertificateTemplate, NetworkError.TrustRefusal.Reason)] = [
        ("expired", .server("api.test").expired, .expired),
        ("not yet valid", .server("api.test").notYetValid, .notYetValid),
        ("another host", .server("a.test"), .wrongHost),
        ("a common name alone", .server("api.test").commonNameOnly, .namesNoHost),
        ("a weak key", .server("api.test").withWeakKey, .weakKey),
        ("SHA-1", .server("api.test").signedOverSHA1, .weakSignature),
        ("for clients", .client("api.test"), .namesNoHost),
    ]

    @Test(arguments: faults)
    func `compatible rules forgive the letter and nothing else`(
        name: String, template: CertificateTemplate, reason: NetworkError.TrustRefusal.Reason
    ) throws {
        for template in [template, template.withoutAuthorityKey] {
            let refusal = try #require(decision(template, isStrict: false).refusal)
            #expect(([refusal] + refusal.others).map(\.reason).contains(reason), "\(name)")
            #expect(!([refusal] + refusal.others).map(\.reason).contains(.malformed), "\(name)")
        }
    }

    @Test(arguments: faults)
    func `how a certificate is written does not hide what else is wrong`(
        name: String, template: CertificateTemplate, reason: NetworkError.TrustRefusal.Reason
    ) throws {
        let refusal = try #require(decision(template.withoutAuthorityKey).refusal)
        let reasons = [refusal.reason] + refusal.others.map(\.reason)
        #expect(reasons.contains(reason), "\(name)")
        #expect(reasons.last == .malformed && Set(reasons).count == reasons.count, "\(name): \(reasons)")
    }

    @Test func `all reasons are told, and what its owner must mend comes first`() throws {
        let template = CertificateTemplate.server("a.test").expired.withoutAuthorityKey
        let unknown = try #require(decision(template, roots: []).refusal)
        #expect(unknown.reason == .unknownIssuer)
        #expect(unknown.others.map(\.reason) == [.expired, .wrongHost])
        let refusal = try #require(decision(template).refusal)
        #expect(refusal.reason == .expired)
        #expect(refusal.others.map(\.reason) == [.wrongHost, .malformed])
        #expect(refusal.others.allSatisfy { $0.others.isEmpty && $0.host == "api.test" })
        let parts = refusal.description.split(separator: "; ").map { $0.prefix(24) }
        #expect(
            parts.prefix(3) == ["the certificate of api.t", "the certificate is for a", "the certificate of api.t"])
    }

    @Test func `a missing list is not reported if it may be missing`() throws {
        let other = try CertificateAuthority().revocationList().der
        let late = CertificateTemplate.server("api.test").expired
        for template in [late, late.withoutAuthorityKey] {
            let issued = try authority.issue(template)
            let decision = try decide(issued.chain, roots: [authority.certificate.der]) {
                $0.revocation.lists = [other]
                $0.revocation.allowsMissingLists = true
            }
            let refusal = try #require(decision.refusal)
            #expect(refusal.reason == .expired)
            #expect(!refusal.others.map(\.reason).contains(.revocationUnknown))
        }
    }

    @Test func `after a wrong signature no other fault is reported`() throws {
        var der = try authority.issue(.server("a.test").expired).der.array
        der[der.count - 1] ^= 1
        let refusal = try #require(try decide([Bytes(der)], roots: [authority.certificate.der]).refusal)
        #expect(refusal.reason == .badSignature)
        #expect(refusal.others.map(\.reason) == [.wrongHost])
    }

    @Test(arguments: [true, false]) func `a certificate is valid in its last second, and no longer`(
        isIntermediate: Bool
    )
        throws
    {
        let short = CertificateTemplate.server("api.test").valid(from: .seconds(-60), until: .seconds(3600))
        let issued =
            isIntermediate
            ? try authority.intermediate(.authority("Short").valid(from: .seconds(-60), until: .seconds(3600)))
                .issue(.server("api.test")) : try authority.issue(short)
        let ends = issued.chain.compactMap { Certificate(der: $0)?.validUntil }
        let end = try #require(ends.min())
        for (time, verdict) in [(end, Verdict.accepted), (end + 1, .refused(.expired))] {
            #expect(
                Verdict(try decide(issued.chain, roots: [authority.certificate.der], at: time)) == verdict)
        }
    }
}
