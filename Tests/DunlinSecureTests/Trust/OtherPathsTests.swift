import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

/// Chains where the first path that OpenSSL makes fails, and another over the same certificates does not.
@Suite struct `Other paths` {
    typealias Authority = CertificateAuthority

    /// One authority under several certificates: of several signers, or of several kinds.
    struct Twins {
        let root: Authority
        let key: Authority.Key
        let first: Authority
        let second: Authority

        /// The first is as `change` says, or by `signer`; the second is by the root and good.
        init(by signer: Authority? = nil, _ change: (CertificateTemplate) -> CertificateTemplate = { $0 }) throws {
            root = try Authority()
            key = try Authority.Key()
            let template = CertificateTemplate.authority("Twin").with(key)
            first = try (signer ?? root).intermediate(change(template))
            second = try root.intermediate(template)
        }

        func chain(_ template: CertificateTemplate = .server("api.test")) throws -> [Bytes] {
            [try first.issue(template).der, first.certificate.der, second.certificate.der]
        }
    }

    static let twins: [(String, @Sendable () throws -> Twins)] = [
        ("by a stranger", { try Twins(by: Authority(.authority("Stranger"))) }),
        ("for clients", { try Twins { $0.purposes(.client) } }),
        ("constrained", { try Twins { $0.excluding("api.test") } }),
        ("constrained to others", { try Twins { $0.permitting("other.test") } }),
        ("signed over SHA-1", { try Twins { $0.signedOverSHA1 } }),
        ("without a word on its usage", { try Twins { $0.usage(nil) } }),
        ("no authority", { try Twins { $0.withoutAuthority } }),
        ("expired", { try Twins { $0.expired } }),
    ]

    @Test(arguments: twins.indices)
    func `another path leads past a twin that leads nowhere, whichever was sent first`(index: Int) throws {
        let (name, make) = Self.twins[index]
        let twins = try make()
        let chain = try twins.chain()
        for sent in [chain, [chain[0], chain[2], chain[1]]] {
            let decision = try decide(sent, roots: [twins.root.certificate.der])
            #expect(decision.path == [chain[0], chain[2], twins.root.certificate.der], "\(name): \(decision)")
        }
        // It is no good by itself.
        #expect(Verdict(try decide(Array(chain[..<2]), roots: [twins.root.certificate.der])) != .accepted, "\(name)")
    }

    @Test func `another path leads past a root that has expired or is constrained`() throws {
        let key = try Authority.Key()
        let good = try Authority(.authority("Root").with(key))
        let leaf = try good.issue(.server("api.test"))
        for other in [
            CertificateTemplate.authority("Root").with(key).excluding("api.test"), .authority("Root").expired,
        ] {
            let twin = try Authority(other)
            for roots in [[good, twin], [twin, good]] {
                let decision = try decide(leaf.chain, roots: roots.map(\.certificate.der))
                #expect(decision.path == [leaf.der, good.certificate.der], "\(decision)")
            }
        }
        let old = try Twins(by: Authority(.authority("Old root").expired))
        #expect(Verdict(try decide(old.chain(), roots: [old.root.certificate.der])) == .accepted)
    }

    @Test func `another path leads past authorities that may not vouch for any of the certificate's names`() throws {
        let twins = try Twins { $0.excluding("bar.corp.test") }
        let chain = try twins.chain(.server("*.corp.test"))
        let root = twins.root.certificate.der
        #expect(try decide(chain, for: "bar.corp.test", roots: [root]).path == [chain[0], chain[2], root])
        let alone = try decide(Array(chain[..<2]), for: "bar.corp.test", roots: [root])
        #expect(Verdict(alone) == .refused(.nameNotPermitted))
    }

    @Test func `another path leads to a pin that is not on the first`() throws {
        let other = try Authority(.authority("Other root"))
        let twins = try Twins(by: other)
        let roots = [other.certificate, twins.root.certificate]
        for pin in roots + [twins.first.certificate] {
            for mode in [TrustRules.Mode.publicKey, .certificate] {
                let decision = try decide(twins.chain(), roots: roots.map(\.der)) {
                    $0.mode = mode
                    $0.pins = .init(keys: Set([pin].compactMap(\.publicKey)))
                    if mode == .certificate { $0.pins = .init(certificates: Set([pin].compactMap(\.certificate))) }
                }
                #expect(Verdict(decision) == .accepted, "\(decision)")
            }
        }
    }

    @Test func `other paths are tried with revocation lists as well, and never around a revocation`() throws {
        let twins = try Twins(by: Authority(.authority("Stranger")))
        let leaf = try twins.second.issue(.server("api.test"))
        let chain = [leaf.der, twins.first.certificate.der, twins.second.certificate.der]
        let verdict = { (list: RevocationList) in
            Verdict(
                try decide(chain, roots: [twins.root.certificate.der]) {
                    $0.revocation.lists = [list.der]
                    $0.revocation.allowsMissingLists = true
                })
        }
        #expect(try verdict(twins.second.revocationList()) == .accepted)
        #expect(try verdict(twins.second.revocationList(revoking: leaf)) == .refused(.revoked))
        // The first path is good but for the revocation; the second twin has no list of its own.
        let both = try Twins { $0.pathLength(3) }
        let lists = [try both.root.revocationList(revoking: both.first.certificate)]
        let decision = try decide(both.chain(), roots: [both.root.certificate.der]) {
            $0.revocation.lists = lists.map(\.der)
            $0.revocation.coversAuthorities = true
            $0.revocation.allowsMissingLists = true
        }
        #expect(Verdict(decision) == .refused(.revoked))
    }

    @Test func `other paths that fail as well leave the refusal of the first`() throws {
        let root = try Authority()
        let key = try Authority.Key()
        let template = CertificateTemplate.authority("Twin").with(key)
        let late = try Authority(.authority("Late root").expired)
        let first = try late.intermediate(template)
        let strange = try Authority(.authority("Stranger")).intermediate(template)
        let narrow = try root.intermediate(template.excluding("api.test"))
        let chain = [try first.issue(.server("api.test")).der] + [first, strange, narrow].map(\.certificate.der)
        let refusal = try #require(
            try decide(chain, roots: [late.certificate.der, root.certificate.der]).refusal)
        #expect(refusal.reason == .expired)
        #expect(refusal.certificate?.der == late.certificate.der)
    }
}

/// What a server can make us do by what it sends.
@Suite struct `The search for other paths` {
    typealias Authority = CertificateAuthority

    private func effort(_ chain: [Bytes], roots: [Bytes]) throws -> (PathFinder.Effort, isFound: Bool) {
        // What cannot be copied cannot be required.
        guard let leaf = ParsedCertificate(der: chain[0]) else {
            throw NetworkError.TrustConfigurationError.unreadable("a leaf")
        }
        let sent = try #require(X509Path())
        for der in chain.dropFirst() { sent.append(try #require(Certificate(der: der))) }
        let store = try TrustStore(roots.compactMap { Certificate(der: $0) })
        var finder = PathFinder(PathVerifier(anchors: .store(store), maximumIntermediates: 8))
        let outcome = finder.find(leaf.pointer, sent: sent.stack) { _ in nil }
        if case .path = outcome { return (finder.effort, true) }
        return (finder.effort, false)
    }

    @Test func `no search is made where the first path is good or the server's own certificate is bad`() throws {
        let root = try Authority()
        let authority = try root.intermediate()
        for template in [CertificateTemplate.server("api.test"), .server("api.test").expired] {
            let (effort, _) = try effort(authority.issue(template).chain, roots: [root.certificate.der])
            #expect(effort == PathFinder.Effort())
        }
    }

    @Test func `the search checks as many signatures as it may, those of verified paths included`() throws {
        let root = try Authority()
        let key = try Authority.Key()
        let template = CertificateTemplate.authority("Twin").with(key)
        var twins: [Authority] = []
        for _ in 0..<100 { twins.append(try root.intermediate(template.excluding("api.test"))) }
        let leaf = try twins[0].issue(.server("api.test")).der
        let (effort, _) = try effort([leaf] + twins.map(\.certificate.der), roots: [root.certificate.der])
        // For each path two to find it, and two to verify it.
        #expect(effort.paths == 16)
        #expect(effort.signatures == 64)
    }

    @Test func `the search checks sixty-four signatures and no more, and none for a name alone`() throws {
        let key = try Authority.Key()
        let template = CertificateTemplate.authority("Twin").with(key)
        let stranger = try Authority(.authority("Stranger"))
        var twins: [Authority] = [], namesakes: [Bytes] = []
        for _ in 0..<100 {
            twins.append(try stranger.intermediate(template))
            namesakes.append(try stranger.intermediate(.authority("Twin")).certificate.der)
        }
        let leaf = try twins[0].issue(.server("api.test")).der
        let ofTwins = try effort([leaf] + twins.map(\.certificate.der), roots: [])
        #expect(ofTwins.0 == PathFinder.Effort(paths: 0, signatures: 64, steps: 100))
        let ofNamesakes = try effort([leaf] + namesakes, roots: [])
        #expect(ofNamesakes.0 == PathFinder.Effort())
    }

    @Test func `the search keeps its limits where authorities sign each other`() throws {
        var authorities: [Authority] = [], keys: [Authority.Key] = []
        for number in 0..<8 {
            keys.append(try Authority.Key())
            authorities.append(try Authority(.authority("Authority \(number)").with(keys[number])))
        }
        var chain = [try authorities[0].issue(.server("api.test")).der]
        for (number, key) in keys.enumerated() {
            for (other, signer) in authorities.enumerated() where other != number {
                let template = CertificateTemplate.authority("Authority \(number)").with(key)
                chain.append(try signer.intermediate(template).certificate.der)
            }
        }
        let (effort, isFound) = try effort(chain, roots: [])
        #expect(effort.steps <= 256)
        #expect(effort.signatures <= 64)
        #expect(!isFound)
    }
}
