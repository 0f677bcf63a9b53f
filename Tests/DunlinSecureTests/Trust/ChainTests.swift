import DunlinSecure
import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Chains of certificates` {
    static let good: [Case] = [
        Case("by the root", .accepted) { try $0.issue(.server("api.test")).chain },
        Case("by an intermediate", .accepted) { try $0.intermediate().issue(.server("api.test")).chain },
        Case("by an intermediate of an intermediate", .accepted) {
            try $0.intermediate().intermediate(.authority("Second")).issue(.server("api.test")).chain
        },
        Case("several names", .accepted) { try $0.issue(.server("a.test", "api.test", "b.test")).chain },
        Case("a wildcard", .accepted) { try $0.issue(.server("*.api.test")).chain }.with(host: "x.api.test"),
        Case("IPv4", .accepted) { try $0.issue(.server("127.0.0.1")).chain }.with(host: "127.0.0.1"),
        Case("IPv6", .accepted) { try $0.issue(.server("::1")).chain }.with(host: "::1"),
        Case("a trailing dot in the host", .accepted) { try $0.issue(.server("api.test")).chain }.with(
            host: "api.test."),
        Case("RSA of 2048 bits", .accepted) { try $0.issue(.server("api.test").with(.rsa2048)).chain },
        Case("P-384", .accepted) { try $0.issue(.server("api.test").with(.p384)).chain },
        Case("Ed25519", .accepted) { try $0.issue(.server("api.test").with(.ed25519)).chain },
        Case("no purposes named", .accepted) { try $0.issue(.server("api.test").purposes()).chain },
        Case("permitted names", .accepted) {
            try $0.intermediate(.authority("Narrow").permitting("api.test")).issue(.server("api.test")).chain
        },
        Case("a wildcard beside a host that is excluded", .accepted) {
            try $0.intermediate(.authority("Narrow").excluding("bar.corp.test")).issue(.server("*.corp.test")).chain
        }.with(host: "api.corp.test"),
        Case("the root sent along", .accepted) { [try $0.issue(.server("api.test")).der, $0.certificate.der] },
        Case("intermediates out of order, and strangers among them", .accepted) {
            let second = try $0.intermediate().intermediate(.authority("Second"))
            let stranger = try CertificateAuthority(.authority("Stranger")).certificate.der
            let chain = try second.issue(.server("api.test")).chain
            return [chain[0], stranger] + chain[1...].reversed()
        },
    ]

    static let wrongNames: [Case] = [
        Case("another name", .refused(.wrongHost)) { try $0.issue(.server("other.test")).chain },
        Case("a common name only", .refused(.namesNoHost)) { try $0.issue(.server("api.test").commonNameOnly).chain },
        Case("a wildcard for the parent", .refused(.wrongHost)) { try $0.issue(.server("*.api.test")).chain },
        Case("a wildcard for two labels", .refused(.wrongHost), host: "x.y.api.test") {
            try $0.issue(.server("*.api.test")).chain
        },
        Case("a wildcard over everything", .refused(.wrongHost)) { try $0.issue(.server("*.test")).chain },
        Case("part of a label wild", .refused(.wrongHost)) { try $0.issue(.server("a*.test")).chain },
        Case("the address as a name", .refused(.wrongHost), host: "127.0.0.1") {
            var template = CertificateTemplate.server("other.test")
            template.names = ["127.0.0.1.", "other.test"]
            return try $0.issue(template).chain
        },
        Case("another address", .refused(.wrongHost), host: "127.0.0.2") { try $0.issue(.server("127.0.0.1")).chain },
        Case("a name where an address is wanted", .refused(.wrongHost), host: "127.0.0.1") {
            try $0.issue(.server("api.test")).chain
        },
        Case("self-signed roots do not name hosts either", .refused(.namesNoHost)) { [$0.certificate.der] },
    ]

    static let bad: [Case] = [
        Case("nothing", .refused(.noCertificate)) { _ in [] },
        Case("garbage", .refused(.malformed)) { _ in ["garbage"] },
        Case("expired", .refused(.expired)) { try $0.issue(.server("api.test").expired).chain },
        Case("not yet valid", .refused(.notYetValid)) { try $0.issue(.server("api.test").notYetValid).chain },
        Case("an expired intermediate", .refused(.expired)) {
            try $0.intermediate(.authority("Late").expired).issue(.server("api.test")).chain
        },
        Case("another root", .refused(.unknownIssuer)) { _ in
            try CertificateAuthority().issue(.server("api.test")).chain
        },
        Case("another root of the same name and key identifier's place", .refused(.unknownIssuer)) { _ in
            let impostor = try CertificateAuthority(.authority("Dunlin test root"))
            return [try impostor.issue(.server("api.test")).der, impostor.certificate.der]
        },
        Case("a missing intermediate", .refused(.unknownIssuer)) {
            try $0.intermediate().issue(.server("api.test")).withoutIntermediates.chain
        },
        Case("self-signed", .refused(.selfSigned)) { _ in
            try IssuedCertificate.selfSigned(.server("api.test")).chain
        },
        Case("a weak key", .refused(.weakKey)) { try $0.issue(.server("api.test").withWeakKey).chain },
        Case("an authority's weak key", .refused(.weakKey)) {
            try $0.intermediate(.authority("Weak").withWeakKey).issue(.server("api.test")).chain
        },
        Case("SHA-1", .refused(.weakSignature)) { try $0.issue(.server("api.test").signedOverSHA1).chain },
        Case("an intermediate over SHA-1", .refused(.weakSignature)) {
            try $0.intermediate(.authority("Old").signedOverSHA1).issue(.server("api.test")).chain
        },
        Case("an intermediate that is no authority", .refused(.notAnAuthority)) {
            try $0.intermediate(.authority("Posing").withoutAuthority.usage(.signing)).issue(.server("api.test")).chain
        },
        Case("an authority that may not sign certificates", .refused(.notAnAuthority)) {
            try $0.intermediate(.authority("Mute").usage(.signing)).issue(.server("api.test")).chain
        },
        Case("more authorities than the first allows", .refused(.pathTooLong)) {
            try $0.intermediate(.authority("First").pathLength(0)).intermediate(.authority("Second"))
                .issue(.server("api.test")).chain
        },
        Case("more authorities than we allow", .refused(.pathTooLong)) {
            var last = $0
            for number in 0..<9 { last = try last.intermediate(.authority("Number \(number)")) }
            return try last.issue(.server("api.test")).chain
        },
        Case("for clients", .refused(.wrongPurpose)) { try $0.issue(.server("api.test").purposes(.client)).chain },
        Case("for signing code", .refused(.wrongPurpose)) {
            try $0.issue(.server("api.test").purposes(.codeSigning)).chain
        },
        Case("an authority for clients", .refused(.wrongPurpose)) {
            try $0.intermediate(.authority("Clients").purposes(.client)).issue(.server("api.test")).chain
        },
        Case("a key that may sign nothing in a handshake", .refused(.wrongPurpose)) {
            try $0.issue(.server("api.test").usage(.revocationLists)).chain
        },
        Case("a name outside of what is permitted", .refused(.nameNotPermitted)) {
            try $0.intermediate(.authority("Narrow").permitting("other.test")).issue(.server("api.test")).chain
        },
        Case("an excluded name", .refused(.nameNotPermitted)) {
            try $0.intermediate(.authority("Narrow").excluding("api.test")).issue(.server("api.test")).chain
        },
        Case("one name of two outside", .refused(.nameNotPermitted)) {
            try $0.intermediate(.authority("Narrow").permitting("api.test"))
                .issue(.server("api.test", "other.test")).chain
        },
        Case("an address outside", .refused(.nameNotPermitted), host: "127.0.0.1") {
            try $0.intermediate(.authority("Narrow").permitting("10.0.0.0/8")).issue(.server("127.0.0.1")).chain
        },
        Case("a wildcard over a host that is excluded", .refused(.nameNotPermitted), host: "bar.corp.test") {
            try $0.intermediate(.authority("Narrow").excluding("bar.corp.test")).issue(.server("*.corp.test")).chain
        },
        Case("two authorities above one that is excluded", .refused(.nameNotPermitted), host: "bar.corp.test") {
            try $0.intermediate(.authority("Narrow").excluding("bar.corp.test")).intermediate(.authority("Wide"))
                .issue(.server("*.corp.test")).chain
        },
        // Were the common name looked at, it would be a violation instead.
        Case("constraints do not meet a common name", .refused(.namesNoHost)) {
            try $0.intermediate(.authority("Narrow").permitting("other.test"))
                .issue(.server("api.test").commonNameOnly).chain
        },
    ]

    @Test(.rows("SP-8"), .rules("9110-4.3.4-3"), arguments: good + wrongNames + bad)
    func `a chain of certificates is believed, or refused for one reason`(example: Case) throws {
        let authority = try CertificateAuthority()
        let decision = try decide(
            try example.make(authority), for: example.host, roots: [authority.certificate.der])
        #expect(Verdict(decision) == example.verdict, "\(decision)")
    }

    @Test func `a root may be older than the rules, an intermediate may not`() throws {
        let old = CertificateTemplate.authority("Old").usage(nil)
        let root = try CertificateAuthority(old)
        let byRoot = try decide(try root.issue(.server("api.test")).chain, roots: [root.certificate.der])
        #expect(Verdict(byRoot) == .accepted)
        let below = try root.intermediate(old)
        let byIntermediate = try decide(try below.issue(.server("api.test")).chain, roots: [root.certificate.der])
        #expect(Verdict(byIntermediate) == .refused(.malformed))
    }

    @Test func `a root holds hosts against its own constraints too`() throws {
        let root = try CertificateAuthority(.authority("Narrow").excluding("bar.corp.test"))
        let chain = try root.issue(.server("*.corp.test")).chain
        let verdict = { Verdict(try decide(chain, for: $0, roots: [root.certificate.der])) }
        #expect(try verdict("api.corp.test") == .accepted)
        #expect(try verdict("bar.corp.test") == .refused(.nameNotPermitted))
        let unchecked = try decide(chain, for: "bar.corp.test", roots: [root.certificate.der]) { $0.checksHost = false }
        #expect(Verdict(unchecked) == .accepted)
    }

    @Test func `a chain ends at whatever is given as a root, whoever signed it`() throws {
        let root = try CertificateAuthority()
        let first = try root.intermediate(), second = try first.intermediate(.authority("Second"))
        let leaf = try second.issue(.server("api.test"))
        for (anchor, length) in [(second, 2), (first, 3), (root, 4)] {
            let whole = leaf.chain + [root.certificate.der]
            let decision = try decide(leaf.chain, roots: [anchor.certificate.der])
            #expect(decision.path == Array(whole[..<length]))
        }
        #expect(try decide(leaf.chain, roots: [leaf.der]).path == [leaf.der])
        #expect(Verdict(try decide(leaf.chain, for: "b.test", roots: [leaf.der])) == .refused(.wrongHost))
        let other = try root.intermediate(.authority("Other")).certificate.der
        #expect(Verdict(try decide(leaf.chain, roots: [other])) == .refused(.unknownIssuer))
    }

    @Test func `a chain does not end at a root that is not valid or may not sign`() throws {
        let root = try CertificateAuthority()
        for (template, reason) in [
            (CertificateTemplate.authority("Late").expired, NetworkError.TrustRefusal.Reason.expired),
            (.authority("Early").notYetValid, .notYetValid), (.authority("Clients").purposes(.client), .wrongPurpose),
            (.authority("Narrow").excluding("api.test"), .nameNotPermitted),
        ] {
            let authority = try root.intermediate(template)
            let chain = try authority.issue(.server("api.test")).chain
            #expect(Verdict(try decide(chain, roots: [authority.certificate.der])) == .refused(reason))
        }
    }

    @Test func `a certificate with a flipped bit is never believed`() throws {
        let authority = try CertificateAuthority()
        let leaf = try authority.issue(.server("api.test")).der
        let roots = try TrustStore([#require(authority.certificate.certificate)])
        let evaluator = try TrustEvaluator(TrustRules(), roots: roots)
        for position in leaf.indices {
            var bytes = leaf.array
            bytes[position] ^= UInt8(1 << (position % 8))
            let decision = evaluator.decide([Bytes(bytes)], host: HostIdentity("api.test"))
            #expect(Verdict(decision) != .accepted, "at \(position)")
        }
    }

    @Test func `the path is what was verified, and no stranger is in it`() throws {
        let authority = try CertificateAuthority()
        let stranger = try CertificateAuthority().certificate.der
        let chain = try authority.intermediate().issue(.server("api.test")).chain
        let decision = try decide(chain + [stranger], roots: [authority.certificate.der])
        #expect(decision.path == chain + [authority.certificate.der])
    }

    @Test func `a chain is judged at the time that is asked about`() throws {
        let authority = try CertificateAuthority()
        let issued = try authority.issue(.server("api.test"))
        let verdicts = try [issued.notBefore - 1, issued.notBefore, issued.notAfter, issued.notAfter + 1].map {
            Verdict(try decide(issued.chain, roots: [authority.certificate.der], at: Int64($0)))
        }
        // The root begins when the certificate does.
        #expect(verdicts == [.refused(.notYetValid), .accepted, .accepted, .refused(.expired)])
    }
}

extension Case {
    fileprivate func with(host: String) -> Case {
        var other = self
        other.host = host
        return other
    }
}
