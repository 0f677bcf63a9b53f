import DunlinSecure
import DunlinTesting
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Pins` {
    let root: CertificateAuthority
    let intermediate: CertificateAuthority
    let server: IssuedCertificate
    let stranger: IssuedCertificate

    init() throws {
        root = try CertificateAuthority()
        intermediate = try root.intermediate()
        server = try intermediate.issue(.server("api.test"))
        stranger = try CertificateAuthority(.authority("Stranger")).certificate
    }

    private func decide(
        _ chain: [Bytes]? = nil, for host: String = "api.test", roots: [Bytes]? = nil, by mode: TrustRules.Mode,
        pins: [IssuedCertificate], allowing: Bool = false, at time: Int64? = nil,
        _ change: (inout TrustRules) -> Void = { _ in }
    ) throws -> HTTP.TrustDecision {
        try DunlinSecureTests.decide(
            chain ?? server.chain, for: host, roots: roots ?? [root.certificate.der], at: time
        ) {
            $0.mode = mode
            $0.pins = .init(
                keys: mode == .publicKey ? Set(pins.compactMap(\.publicKey)) : [],
                certificates: mode == .certificate ? Set(pins.compactMap(\.certificate)) : [])
            $0.allowsInvalid = allowing
            change(&$0)
        }
    }

    static let modes: [TrustRules.Mode] = [.publicKey, .certificate]

    @Test(.rows("SP-10", "SP-14", "VD-9"), arguments: modes)
    func `a pin of the server, an intermediate or the root is enough`(mode: TrustRules.Mode) throws {
        for pin in [server, intermediate.certificate, root.certificate] {
            #expect(Verdict(try decide(by: mode, pins: [pin])) == .accepted)
            #expect(Verdict(try decide(by: mode, pins: [stranger, pin])) == .accepted)
        }
        #expect(Verdict(try decide(by: mode, pins: [stranger])) == .refused(.pinMismatch))
    }

    @Test(.rows("SP-14"), arguments: modes)
    func `only a pin of the leaf counts where the position is the leaf`(mode: TrustRules.Mode) throws {
        let verdict = { (pin: IssuedCertificate) in Verdict(try decide(by: mode, pins: [pin]) { $0.position = .leaf }) }
        #expect(try verdict(server) == .accepted)
        #expect(try verdict(intermediate.certificate) == .refused(.pinMismatch))
        #expect(try verdict(root.certificate) == .refused(.pinMismatch))
    }

    @Test(.rows("SP-12"), arguments: modes, [false, true])
    func `a pin of a certificate that was only sent along proves nothing`(mode: TrustRules.Mode, allowing: Bool) throws
    {
        let chains = [
            server.chain + [stranger.der], [server.der, stranger.der] + server.intermediates,
            // Signed by itself, with the pinned one behind it.
            [try IssuedCertificate.selfSigned(.server("api.test")).der, stranger.der],
        ]
        for (index, chain) in chains.enumerated() {
            let decision = try decide(chain, by: mode, pins: [stranger], allowing: allowing)
            let isRefusedBefore = index == 2 && !allowing
            #expect(Verdict(decision) == .refused(isRefusedBefore ? .selfSigned : .pinMismatch))
            if !isRefusedBefore {
                #expect(decision.refusal?.seen.contains(where: { $0 == stranger.publicKey }) == false)
            }
        }
    }

    @Test(.rows("SP-9"), arguments: modes)
    func `a pin does not make an invalid chain valid`(mode: TrustRules.Mode) throws {
        let late = try root.issue(.server("api.test").expired)
        let own = try IssuedCertificate.selfSigned(.server("api.test"))
        #expect(Verdict(try decide(late.chain, by: mode, pins: [late])) == .refused(.expired))
        #expect(Verdict(try decide(own.chain, by: mode, pins: [own])) == .refused(.selfSigned))
        #expect(Verdict(try decide(roots: [], by: mode, pins: [server])) == .refused(.unknownIssuer))
        #expect(Verdict(try decide(for: "other.test", by: mode, pins: [server])) == .refused(.wrongHost))
    }

    @Test(.rows("SP-10"), arguments: modes)
    func `pins are anchors where invalid certificates are allowed`(mode: TrustRules.Mode) throws {
        let own = try IssuedCertificate.selfSigned(.server("api.test"))
        #expect(Verdict(try decide(own.chain, roots: [], by: mode, pins: [own], allowing: true)) == .accepted)
        // An intermediate serves without its root, and so does the leaf.
        let byIntermediate = try decide(roots: [], by: mode, pins: [intermediate.certificate], allowing: true)
        #expect(byIntermediate.path == [server.der, intermediate.certificate.der])
        #expect(try decide(roots: [], by: mode, pins: [server], allowing: true).path == [server.der])
        #expect(Verdict(try decide(own.chain, by: mode, pins: [stranger], allowing: true)) == .refused(.pinMismatch))
    }

    @Test(.rows("SP-7", "SP-11"), arguments: modes)
    func `pins do not let a wrong name pass where invalid certificates are allowed`(mode: TrustRules.Mode) throws {
        let own = try IssuedCertificate.selfSigned(.server("api.test"))
        let named = try IssuedCertificate.selfSigned(.server("api.test").commonNameOnly)
        let verdict = { (issued: IssuedCertificate, host: String, checks: Bool) in
            Verdict(
                try decide(issued.chain, for: host, roots: [], by: mode, pins: [issued], allowing: true) {
                    $0.checksHost = checks
                })
        }
        #expect(try verdict(own, "other.test", true) == .refused(.wrongHost))
        #expect(try verdict(own, "other.test", false) == .accepted)
        #expect(try verdict(named, "api.test", true) == .refused(.namesNoHost))
        #expect(try verdict(named, "api.test", false) == .accepted)
    }

    @Test(.rows("SP-10"))
    func `pins of certificates ask for validity even of invalid ones, pins of keys do not`() throws {
        let late = try IssuedCertificate.selfSigned(.server("api.test").expired)
        for time in [nil, Int64(late.notAfter) + 1, Int64(late.notBefore) - 1] {
            let verdict = { (mode: TrustRules.Mode) in
                Verdict(try decide(late.chain, roots: [], by: mode, pins: [late], allowing: true, at: time))
            }
            let isEarly = time.map { $0 < late.notBefore } ?? false
            #expect(try verdict(.certificate) == .refused(isEarly ? .notYetValid : .expired))
            #expect(try verdict(.publicKey) == .accepted)
        }
    }

    @Test(arguments: modes)
    func `pins do not make a weak key or a forged signature good`(mode: TrustRules.Mode) throws {
        let weak = try IssuedCertificate.selfSigned(.server("api.test").withWeakKey)
        #expect(
            Verdict(try decide(weak.chain, roots: [], by: mode, pins: [weak], allowing: true)) == .refused(.weakKey))
        var forged = server.der.array
        forged[forged.count - 1] ^= 1
        let chain = [Bytes(forged)] + server.intermediates
        let decision = try decide(chain, roots: [], by: mode, pins: [intermediate.certificate], allowing: true)
        #expect(Verdict(decision) == .refused(.badSignature))
    }

    @Test(.rows("SP-16")) func `pins of keys outlive a renewal, pins of certificates do not`() throws {
        let renewed = try intermediate.issue(.server("api.test").with(server.key))
        #expect(Verdict(try decide(renewed.chain, by: .publicKey, pins: [server])) == .accepted)
        #expect(Verdict(try decide(renewed.chain, by: .certificate, pins: [server])) == .refused(.pinMismatch))
    }

    @Test(.rows("SP-13"), arguments: modes)
    func `a server is refused where pins are asked for and there are none`(mode: TrustRules.Mode) throws {
        #expect(Verdict(try decide(by: mode, pins: [])) == .refused(.noPins))
        #expect(Verdict(try decide(by: mode, pins: [], allowing: true)) == .refused(.nameNeedsPin))
        #expect(Verdict(try decide(by: mode, pins: [], allowing: true) { $0.checksHost = false }) == .refused(.noPins))
    }

    @Test(.rows("SP-25")) func `a pin mismatch says what was seen and what was expected`() throws {
        let refusal = try #require(try decide(by: .publicKey, pins: [stranger]).refusal)
        #expect(refusal.seen == [server, intermediate.certificate, root.certificate].compactMap(\.publicKey))
        #expect(refusal.expected == [stranger].compactMap(\.publicKey))
        let seen = try [server.pin, intermediate.certificate.pin, root.certificate.pin].joined(separator: ", ")
        #expect(refusal.description == "pin mismatch for api.test: saw \(seen), expected \(try stranger.pin)")
        let two = try #require(try decide(by: .publicKey, pins: [stranger, try root.issue(.server("b.test"))]).refusal)
        #expect(two.description.contains("expected one of sha256/"))
    }

    @Test func `a certificate's digest is never written as a pin, and its key's is`() throws {
        let refusal = try #require(try decide(by: .certificate, pins: [stranger]).refusal)
        let path = [server, intermediate.certificate, root.certificate]
        let pinned = try #require(stranger.certificate)
        #expect(refusal.seen == path.compactMap { $0.certificate?.details.fingerprint })
        let seen = refusal.seen.map { "SHA-256 \($0.hexadecimal)" }.joined(separator: ", ")
        #expect(
            refusal.description
                == "pin mismatch for api.test: saw \(seen), expected SHA-256 \(pinned.details.fingerprint.hexadecimal)")
        #expect(!refusal.description.contains("sha256/"))
        #expect(pinned.description.contains(try stranger.pin))
        #expect(!pinned.description.contains(pinned.details.fingerprint.description))
    }

    @Test(.rows("SP-6", "SP-8"))
    func `an expired certificate of nobody for another host is accepted only with everything allowed`() throws {
        let own = try IssuedCertificate.selfSigned(.server("other.test").expired)
        #expect(try decide(own.chain, by: .none, pins: [], allowing: true) { $0.checksHost = false }.path == [own.der])
        #expect(Verdict(try decide(own.chain, by: .none, pins: [], allowing: true)) == .refused(.nameNeedsPin))
        #expect(Verdict(try decide([], by: .none, pins: [], allowing: true)) == .refused(.noCertificate))
    }
}
