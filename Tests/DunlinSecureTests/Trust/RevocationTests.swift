import DunlinSecure
import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

@Suite struct Revocation {
    let root: CertificateAuthority
    let intermediate: CertificateAuthority
    let server: IssuedCertificate

    init() throws {
        root = try CertificateAuthority()
        intermediate = try root.intermediate()
        server = try intermediate.issue(.server("api.test"))
    }

    private func verdict(
        _ issued: IssuedCertificate? = nil, staple: Bytes? = nil, _ change: (inout RevocationRules) throws -> Void
    ) throws -> Verdict {
        Verdict(
            try decide((issued ?? server).chain, roots: [root.certificate.der], staple: staple) {
                try change(&$0.revocation)
            })
    }

    @Test(.rows("SP-18")) func `revocation is not asked about unless the rules ask for it`() throws {
        let staple = try intermediate.staple(.revoked, for: server)
        #expect(try verdict(staple: staple) { _ in } == .accepted)
    }

    @Test(.rows("SP-18")) func `a revocation list refuses what it lists, and an old or missing one tells nothing`()
        throws
    {
        let good = try intermediate.revocationList().der
        let bad = try intermediate.revocationList(revoking: server).der
        let old = try intermediate.revocationList(validUntil: .seconds(-60)).der
        let others = try CertificateAuthority().revocationList(revoking: server).der
        #expect(try verdict { $0.lists = [good] } == .accepted)
        #expect(try verdict { $0.lists = [bad] } == .refused(.revoked))
        #expect(try verdict { $0.lists = [old] } == .refused(.revocationUnknown))
        #expect(try verdict { $0.lists = [others] } == .refused(.revocationUnknown))
        #expect(
            try verdict {
                $0.lists = [others]
                $0.allowsMissingLists = true
            } == .accepted)
        #expect(
            try verdict {
                $0.lists = [bad]
                $0.allowsMissingLists = true
            } == .refused(.revoked))
    }

    /// Read once, and searched by order: a list of 100,000 is no reason to wait, nor one to believe.
    @Test func `a certificate is found in a list of a hundred thousand, and no other is`() throws {
        let other = try intermediate.issue(.server("api.test"))
        let long = try intermediate.revocationList(revoking: server, others: 100_000).der
        #expect(long.count > 2_000_000)
        #expect(try verdict { $0.lists = [long] } == .refused(.revoked))
        #expect(try verdict(other) { $0.lists = [long] } == .accepted)
        let cut = long[0..<long.count / 2]
        #expect(try verdict(other) { $0.lists = [cut] } == .refused(.revocationUnknown))
    }

    @Test func `revocation lists of authorities count as well where the rules ask for it`() throws {
        let ofServer = try intermediate.revocationList().der
        let ofIntermediate = try root.revocationList(revoking: intermediate.certificate).der
        let lists = [ofServer, ofIntermediate]
        #expect(try verdict { $0.lists = lists } == .accepted)
        #expect(
            try verdict {
                $0.lists = lists
                $0.coversAuthorities = true
            } == .refused(.revoked))
        #expect(
            try verdict {
                $0.lists = [ofServer, try root.revocationList().der]
                $0.coversAuthorities = true
            } == .accepted)
    }

    @Test func `a staple counts if its issuer signed it, or whom the issuer made responsible`() throws {
        let responder = try intermediate.issue(.statusResponder("Responder"))
        for signer in [nil, responder] {
            let good = try intermediate.staple(.good, for: server, signedBy: signer)
            let bad = try intermediate.staple(.revoked, for: server, signedBy: signer)
            let unknown = try intermediate.staple(.unknown, for: server, signedBy: signer)
            #expect(try verdict(staple: good) { $0.staple = .required } == .accepted)
            #expect(try verdict(staple: bad) { $0.staple = .checkedIfPresent } == .refused(.revoked))
            #expect(try verdict(staple: unknown) { $0.staple = .checkedIfPresent } == .refused(.revocationUnknown))
        }
    }

    @Test func `a staple by another signer, about another certificate, too old or unreadable tells nothing`() throws {
        let staples = [
            try root.staple(.good, for: server),
            try CertificateAuthority().staple(.good, for: server),
            try intermediate.staple(.good, for: server, signedBy: try intermediate.issue(.client("No responder"))),
            try intermediate.staple(.good, for: server, signedBy: try root.issue(.statusResponder("Another's"))),
            try intermediate.staple(.good, for: try intermediate.issue(.server("api.test"))),
            try intermediate.staple(.good, for: server, validUntil: .seconds(-3600)), "garbage",
        ]
        for staple in staples {
            #expect(try verdict(staple: staple) { $0.staple = .checkedIfPresent } == .refused(.revocationUnknown))
        }
    }

    @Test func `a staple that is missing matters where it is required or promised`() throws {
        let promising = try intermediate.issue(.server("api.test").stapled)
        #expect(try verdict { $0.staple = .checkedIfPresent } == .accepted)
        #expect(try verdict { $0.staple = .required } == .refused(.revocationUnknown))
        #expect(try verdict(promising) { $0.staple = .checkedIfPresent } == .refused(.revocationUnknown))
        #expect(try verdict(promising) { _ in } == .accepted)
    }

    @Test func `every flipped bit of a good staple makes it worth nothing`() throws {
        let staple = try intermediate.staple(.good, for: server)
        for position in stride(from: 0, to: staple.count, by: 3) {
            var bytes = staple.array
            bytes[position] ^= UInt8(1 << (position % 8))
            let verdict = try verdict(staple: Bytes(bytes)) { $0.staple = .required }
            #expect(verdict != .accepted, "at \(position)")
        }
    }
}
