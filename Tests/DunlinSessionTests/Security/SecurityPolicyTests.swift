import Dunlin
import DunlinTesting
import FoundationEssentials
import LedgerRows
import Testing

@testable import DunlinSecure
@testable import DunlinSession

@Suite struct `Security policy` {
    static let key = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    let authority: CertificateAuthority
    let server: IssuedCertificate

    init() throws {
        authority = try CertificateAuthority()
        server = try authority.issue(.server("api.test"))
    }

    private func decide(
        _ policy: SecurityPolicy, _ chain: [Bytes], for host: String = "api.test", roots: [Bytes]? = nil
    ) throws -> HTTP.TrustDecision {
        let roots = (roots ?? [authority.certificate.der]).compactMap { Certificate(der: $0) }
        return try TrustEvaluator(policy.rules(), roots: TrustStore(roots)).decide(chain, host: HostIdentity(host))
    }

    private func isAccepted(
        _ policy: SecurityPolicy, _ chain: [Bytes], for host: String = "api.test", roots: [Bytes]? = nil
    ) throws -> Bool {
        if case .accepted = try decide(policy, chain, for: host, roots: roots) { true } else { false }
    }

    @Test(.rows("SM-3", "SP-2", "VD-8"), .rules("9110-4.3.4-6"))
    func `the default security policy pins nothing, allows nothing invalid and checks names`() throws {
        let policy = SecurityPolicy()
        #expect(policy.pinningMode == .none && policy.pins.isEmpty && policy.pinPosition == .any)
        #expect(!policy.allowsInvalidCertificates && policy.validatesDomainName && !policy.requiresPinningForAllHosts)
        #expect(try isAccepted(policy, server.chain))
        #expect(try !isAccepted(policy, server.chain, roots: []))
        #expect(try !isAccepted(policy, server.chain, for: "other.test"))
        #expect(try !isAccepted(policy, authority.issue(.server("api.test").expired).chain))
    }

    @Test(.rows("SP-1")) func `pins by key and pins by certificate count, and backup pins count as well`() throws {
        let key = try SecurityPolicy.Pin(server.pin)
        let certificate = try SecurityPolicy.Pin(certificate: server.der)
        let other = try SecurityPolicy.Pin(Self.key)
        #expect(try SecurityPolicy.Pin(certificate: Bytes(server.pem)) == certificate)
        #expect(certificate.publicKey == key.publicKey)
        for pin in [key, certificate] {
            #expect(try isAccepted(SecurityPolicy(mode: .publicKey, pins: [pin]), server.chain))
            #expect(try isAccepted(SecurityPolicy(mode: .publicKey, pins: [other], backupPins: [pin]), server.chain))
        }
        #expect(try isAccepted(SecurityPolicy(mode: .certificate, pins: [certificate]), server.chain))
        #expect(try !isAccepted(SecurityPolicy(mode: .publicKey, pins: [other]), server.chain))
        #expect(try !isAccepted(SecurityPolicy(mode: .publicKey, pins: []), server.chain))
        #expect(try !isAccepted(SecurityPolicy(mode: .certificate, pins: []), server.chain))
    }

    @Test func `hosts have pins of their own, others have none or are refused`() throws {
        var policy = SecurityPolicy(mode: .publicKey, pins: [])
        policy.hosts = ["*.pinned.test": [try .init(Self.key)], "api.test": [try .init(server.pin)]]
        let other = try authority.issue(.server("other.test", "x.pinned.test")).chain
        #expect(try isAccepted(policy, server.chain))
        #expect(try isAccepted(policy, other, for: "other.test"))
        #expect(try decide(policy, other, for: "x.pinned.test").refusal?.reason == .pinMismatch)
        policy.requiresPinningForAllHosts = true
        #expect(try isAccepted(policy, server.chain))
        #expect(try decide(policy, other, for: "other.test").refusal?.reason == .hostNotPinned)
    }

    @Test func `a host's pattern may be written as people write hosts`() throws {
        for (pattern, host) in [
            ("API.test", "api.test"), ("bücher.test", "xn--bcher-kva.test"), ("[::1]", "::1"), ("::1", "::1"),
            ("*.bücher.test", "x.xn--bcher-kva.test"),
        ] {
            var policy = SecurityPolicy(mode: .publicKey, pins: [])
            policy.hosts[pattern] = [try .init(Self.key)]
            let demand = try policy.rules().demand(for: HostIdentity(host))
            #expect(demand == .pins(.init(keys: [try #require(Certificate.Fingerprint(Self.key))])), "\(pattern)")
        }
    }

    @Test(.rows("SP-15")) func `the insecure policy trusts every server, and no other policy does`() throws {
        let stranger = try IssuedCertificate.selfSigned(.server("other.test").expired)
        #expect(try isAccepted(.insecure, stranger.chain))
        var policy = SecurityPolicy()
        policy.allowsInvalidCertificates = true
        #expect(try decide(policy, server.chain).refusal?.reason == .nameNeedsPin)
        policy.validatesDomainName = false
        #expect(throws: NetworkError.TrustConfigurationError.self) { try policy.rules() }
    }

    static let contradictions: [(String, @Sendable (inout SecurityPolicy) throws -> Void)] = [
        ("a key pins no certificate", { $0 = .init(mode: .certificate, pins: [try .init(key)]) }),
        ("pins required and none possible", { $0.requiresPinningForAllHosts = true }),
        (
            "a host without pins",
            {
                $0 = .init(mode: .publicKey, pins: []); $0.hosts = ["a.test": []]
            }
        ),
        (
            "no host",
            {
                $0 = .init(mode: .publicKey, pins: []); $0.hosts = ["a b": [try .init(key)]]
            }
        ),
        (
            "a URL",
            {
                $0 = .init(mode: .publicKey, pins: []); $0.hosts = ["https://a.test/": [try .init(key)]]
            }
        ),
        (
            "a port",
            {
                $0 = .init(mode: .publicKey, pins: []); $0.hosts = ["a.test:8443": [try .init(key)]]
            }
        ),
        (
            "every host",
            {
                $0 = .init(mode: .publicKey, pins: []); $0.hosts = ["*": [try .init(key)]]
            }
        ),
    ]

    @Test(arguments: contradictions.indices)
    func `a security policy that contradicts itself is refused when the session is made`(index: Int) throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test")
        try Self.contradictions[index].1(&configuration.tls.policy)
        let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        #expect(error?.code == .invalidConfiguration, "\(Self.contradictions[index].0)")
    }

    @Test(
        .rows("SP-5"),
        arguments: ["", "sha256/", "sha256/AAAA", "sha1/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "garbage"])
    func `pins that are garbage are refused when they are made`(text: String) {
        #expect(throws: NetworkError.TrustConfigurationError.notAPin(text)) { try SecurityPolicy.Pin(text) }
        #expect(throws: NetworkError.TrustConfigurationError.self) { try SecurityPolicy.Pin(certificate: Bytes(text)) }
    }

    @Test(.rows("G-6", "SP-21", "CO-12")) func `a security policy comes back the same from JSON`() throws {
        var policy = SecurityPolicy(
            mode: .publicKey, pins: [try .init(Self.key), try .init(certificate: server.der)],
            backupPins: [try .init(server.pin)])
        policy.hosts = ["*.a.test": [try .init(Self.key)]]
        policy.pinPosition = .leaf
        policy.requiresPinningForAllHosts = true
        policy.allowsInvalidCertificates = true
        policy.validatesDomainName = false
        for policy in [policy, SecurityPolicy(), .insecure] {
            let data = try JSONEncoder().encode(policy)
            #expect(try JSONDecoder().decode(SecurityPolicy.self, from: data) == policy)
        }
        #expect(try JSONDecoder().decode(SecurityPolicy.self, from: Data("{}".utf8)) == SecurityPolicy())
    }

    @Test(
        .rows("CO-12"),
        arguments: [
            #"{"pins":[{"publicKey":"garbage"}]}"#, #"{"pins":[{"certificate":"AAAA"}]}"#, #"{"pins":[{}]}"#,
            #"{"pins":[{"publicKey":5}]}"#, #"{"pinningMode":"some"}"#, #"{"pins":["x"]}"#,
        ])
    func `a security policy is not made of JSON with garbage in it`(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SecurityPolicy.self, from: Data(json.utf8))
        }
    }
}

extension HTTP.TrustDecision {
    var refusal: NetworkError.TrustRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}
