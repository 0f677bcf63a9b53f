import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `Accepted paths` {
    // MARK: The machine

    static func bytes(_ number: UInt8, of size: Int = 8) -> PresentedBytes {
        PresentedBytes(host: .name("api.test"), certificates: [Bytes([UInt8](repeating: number, count: size))])
    }

    static let validity = PathValidity(from: 100, until: 200)

    @Test(arguments: [(99, false), (100, true), (200, true), (201, false)] as [(Int64, Bool)])
    func `an accepted path counts while it is valid, its last second included`(now: Int64, counts: Bool) {
        var paths = AcceptedPaths()
        paths.remember([], for: Self.bytes(1), while: Self.validity)
        #expect((paths.path(for: Self.bytes(1), at: now) != nil) == counts)
    }

    @Test func `an accepted path counts for the same bytes in the same order and the same host only`() {
        let chain: [Bytes] = ["leaf", "first", "second"]
        var paths = AcceptedPaths()
        paths.remember([], for: PresentedBytes(host: .name("a.test"), certificates: chain), while: Self.validity)
        let others: [PresentedBytes] = [
            PresentedBytes(host: .name("b.test"), certificates: chain),
            PresentedBytes(host: .name("a.test"), certificates: Array(chain.dropLast())),
            PresentedBytes(host: .name("a.test"), certificates: chain + ["third"]),
            PresentedBytes(host: .name("a.test"), certificates: [chain[0], chain[2], chain[1]]),
            PresentedBytes(host: .name("a.test"), certificates: ["leafy", chain[1], chain[2]]),
        ]
        for other in others { #expect(paths.path(for: other, at: 150) == nil) }
    }

    @Test func `accepted paths beyond the limit are forgotten, the least recently used first`() {
        var paths = AcceptedPaths(AcceptedPaths.Limits(count: 2))
        for number: UInt8 in 1...2 { paths.remember([], for: Self.bytes(number), while: Self.validity) }
        #expect(paths.path(for: Self.bytes(1), at: 150) != nil)
        paths.remember([], for: Self.bytes(3), while: Self.validity)
        #expect((1...3).map { paths.path(for: Self.bytes($0), at: 150) != nil } == [true, false, true])
        #expect(paths.count == 2)
    }

    @Test func `an accepted path for too many bytes is not remembered`() {
        var paths = AcceptedPaths(AcceptedPaths.Limits(bytes: 10))
        for size in [10, 11] { paths.remember([], for: Self.bytes(1, of: size), while: Self.validity) }
        #expect(paths.count == 1)
    }

    // MARK: In use

    static func evaluator(
        _ authority: CertificateAuthority, _ change: (inout TrustRules) throws -> Void = { _ in }
    ) throws -> TrustEvaluator {
        var rules = TrustRules()
        try change(&rules)
        return try TrustEvaluator(rules, roots: TrustStore([#require(authority.certificate.certificate)]))
    }

    @Test func `an accepted path spares the next connection all signatures`() throws {
        let authority = try CertificateAuthority()
        let chain = try authority.intermediate().issue(.server("api.test")).chain
        let evaluator = try Self.evaluator(authority)
        let first = evaluator.decide(chain, host: HostIdentity("api.test"))
        let second = evaluator.decide(chain, host: HostIdentity("api.test"))
        #expect(first == second)
        #expect(first.path?.count == 3)
        #expect(evaluator.remembered == 1)
        // What was remembered is handed out, not made again.
        func addresses(_ decision: HTTP.TrustDecision) -> [UnsafeRawPointer?]? {
            decision.path?.map { $0.withUnsafeBytes(\.baseAddress) }
        }
        #expect(addresses(first) == addresses(second))
    }

    @Test(arguments: ["the server's own", "an intermediate's", "the root's"])
    func `an accepted path ends with the first certificate on it that ends`(whose: String) throws {
        let hour = Duration.seconds(3600)
        func short(_ template: CertificateTemplate, _ name: String) -> CertificateTemplate {
            var template = template
            if name == whose { template.validUntil = hour }
            return template
        }
        let authority = try CertificateAuthority(short(.authority("Root"), "the root's"))
        let chain = try authority.intermediate(short(.authority("Middle"), "an intermediate's"))
            .issue(short(.server("api.test"), "the server's own")).chain
        let evaluator = try Self.evaluator(authority)
        let now = X509Reading.now
        let host = HostIdentity("api.test")
        #expect(Verdict(evaluator.decide(chain, host: host, at: now)) == .accepted)
        #expect(Verdict(evaluator.decide(chain, host: host, at: now + 3500)) == .accepted)
        #expect(Verdict(evaluator.decide(chain, host: host, at: now + 3700)) == .refused(.expired))
        #expect(Verdict(evaluator.decide(chain, host: host, at: now - 7200)) == .refused(.notYetValid))
        #expect(Verdict(evaluator.decide(chain, host: host, at: now)) == .accepted)
    }

    @Test func `an accepted path with a pinned certificate ends with the path to a root, too`() throws {
        var root = CertificateTemplate.authority("Root")
        root.validUntil = .seconds(3600)
        let authority = try CertificateAuthority(root)
        let leaf = try authority.issue(.server("api.test"))
        let evaluator = try Self.evaluator(authority) {
            $0.mode = .certificate
            $0.pins = TrustRules.Pins(certificates: [try #require(leaf.certificate)])
        }
        let now = X509Reading.now
        let host = HostIdentity("api.test")
        let decision = evaluator.decide(leaf.chain, host: host, at: now)
        // The root is not on the path that is told, for it ends at the pin.
        #expect(decision.path == [leaf.der])
        #expect(Verdict(evaluator.decide(leaf.chain, host: host, at: now + 3700)) == .refused(.expired))
    }

    @Test func `an accepted path does not help another host, another chain, or a forged copy`() throws {
        let authority = try CertificateAuthority()
        let leaf = try authority.issue(.server("api.test"))
        let evaluator = try Self.evaluator(authority)
        #expect(Verdict(evaluator.decide(leaf.chain, host: HostIdentity("api.test"))) == .accepted)
        #expect(Verdict(evaluator.decide(leaf.chain, host: HostIdentity("b.test"))) == .refused(.wrongHost))
        // One bit of the signature, which is what stands last.
        var forged = leaf.der.array
        forged[forged.count - 1] ^= 1
        #expect(Verdict(evaluator.decide([Bytes(forged)], host: HostIdentity("api.test"))) == .refused(.badSignature))
        let stranger = try CertificateAuthority().issue(.server("api.test"))
        #expect(
            Verdict(evaluator.decide(stranger.chain + leaf.chain, host: HostIdentity("api.test")))
                == .refused(.unknownIssuer))
        #expect(evaluator.remembered == 1)
    }

    @Test(arguments: ["lists", "staple"])
    func `an accepted path is not remembered where revocation is looked at`(what: String) throws {
        let authority = try CertificateAuthority()
        let leaf = try authority.issue(.server("api.test"))
        let list = try authority.revocationList().der
        let evaluator = try Self.evaluator(authority) {
            if what == "lists" { $0.revocation.lists = [list] } else { $0.revocation.staple = .checkedIfPresent }
        }
        for _ in 0..<2 { #expect(Verdict(evaluator.decide(leaf.chain, host: HostIdentity("api.test"))) == .accepted) }
        #expect(evaluator.remembered == 0)
    }

    @Test func `a path is remembered once it was accepted, and a refusal never`() throws {
        let authority = try CertificateAuthority()
        let evaluator = try Self.evaluator(authority)
        let expired = try authority.issue(.server("api.test").expired)
        for _ in 0..<2 {
            #expect(Verdict(evaluator.decide(expired.chain, host: HostIdentity("api.test"))) == .refused(.expired))
        }
        #expect(evaluator.remembered == 0)
    }
}
