import Dunlin
import DunlinTesting
import Folders
import Foundation
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinSecure
@testable import DunlinSession

@Suite struct `TLS configuration` {
    private static func pinned() throws -> SecurityPolicy {
        SecurityPolicy(mode: .publicKey, pins: [try .init(`Security policy`.key)])
    }

    private static func named() throws -> SecurityPolicy {
        var policy = SecurityPolicy(mode: .publicKey, pins: [])
        policy.hosts = ["a.test": [try .init(`Security policy`.key)]]
        return policy
    }

    private static func configuration(_ base: String?, _ policy: SecurityPolicy) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration(baseURL: base, transport: MockTransport())
        configuration.tls.policy = policy
        return configuration
    }

    @Test(.rows("HS-16", "SP-24"), arguments: ["http://api.test", nil])
    func `pins for all hosts want a secure base URL`(base: String?) throws {
        for mode in [SecurityPolicy.PinningMode.publicKey, .certificate] {
            let policy = SecurityPolicy(mode: mode, pins: [])
            let error = #expect(throws: NetworkError.self) { try HTTPSession(Self.configuration(base, policy)) }
            #expect(error?.code == .insecurePinningConfiguration)
            #expect(error?.reason.contains(mode.rawValue) == true)
        }
        _ = try HTTPSession(Self.configuration(base, SecurityPolicy()))
    }

    @Test func `pins for hosts by name need no base URL, but refuse one with http`() throws {
        _ = try HTTPSession(Self.configuration("https://api.test", Self.pinned()))
        _ = try HTTPSession(Self.configuration(nil, Self.named()))
        let error = #expect(throws: NetworkError.self) {
            try HTTPSession(Self.configuration("http://a.test", Self.named()))
        }
        #expect(error?.code == .insecurePinningConfiguration)
    }

    @Test(.rows("HS-17", "SP-24"), arguments: ["http://api.test/x", "http://other.test/", "//other.test/x"])
    func `a session with pins sends nothing in clear text`(target: String) async throws {
        let transport = MockTransport()
        transport.on(.get, "/x").respond()
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: transport)
        configuration.tls.policy = try Self.pinned()
        let session = try HTTPSession(configuration)
        let error = try await networkError {
            _ = try await session.request(HTTP.Target(target), method: .get, as: BytesSerializer())
        }
        let isClear = target.hasPrefix("http:")
        #expect((error?.code == .clearTextRefused) == isClear)
        #expect(transport.requests.isEmpty == isClear)
    }

    @Test func `roots of one's own are read when the session is made`() throws {
        let authority = try CertificateAuthority()
        for roots in [
            HTTPSession.TLS.Roots.only([.bytes(Bytes(authority.pem))]), .only([.bytes(authority.certificate.der)]),
        ] {
            let source = try TrustSource(HTTPSession.TLS(roots: roots)) { SystemRoots(files: [], folders: []) }
            let chain = try authority.issue(.server("api.test")).chain
            #expect(try source.evaluator().decide(chain, host: HostIdentity("api.test")).refusal == nil)
            #expect(try source.evaluator() === source.evaluator())
        }
        for bad in [HTTPSession.TLS.Source.bytes("garbage"), "/nonexistent.pem"] {
            for roots in [HTTPSession.TLS.Roots.only([bad]), .systemAnd([bad])] {
                var configuration = HTTPSession.Configuration()
                configuration.tls.roots = roots
                let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
                #expect(error?.code == .invalidConfiguration)
                #expect(error?.underlying is NetworkError.TrustConfigurationError)
            }
        }
        var empty = HTTPSession.Configuration()
        empty.tls.roots = .only([])
        #expect(throws: NetworkError.self) { try HTTPSession(empty) }
    }

    @Test(.rows("SM-6"))
    func `the system's roots are asked for only when they are needed, and added to one's own`() throws {
        let authority = try CertificateAuthority()
        let own = [HTTPSession.TLS.Source.bytes(authority.certificate.der)]
        let none = { @Sendable in SystemRoots(files: ["/nonexistent.pem"], folders: []) }
        let lacking = try TrustSource(HTTPSession.TLS(roots: .systemAnd(own)), system: none)
        #expect(throws: NetworkError.TrustConfigurationError.noSystemRoots(lookedAt: ["/nonexistent.pem"])) {
            try lacking.evaluator()
        }
        let both = try TrustSource(HTTPSession.TLS(roots: .systemAnd(own)))
        let alone = try TrustSource(HTTPSession.TLS())
        #expect(try both.evaluator().roots.count == alone.evaluator().roots.count + 1)
    }

    @Test func `an intermediate that is given as a root needs no other`() throws {
        let intermediate = try CertificateAuthority().intermediate()
        let tls = HTTPSession.TLS(roots: .only([.bytes(Bytes(intermediate.pem))]))
        let chain = try intermediate.issue(.server("api.test")).chain
        #expect(try TrustSource(tls).evaluator().decide(chain, host: HostIdentity("api.test")).refusal == nil)
    }

    @Test func `sessions share the system's roots, and follow them when the files change`() throws {
        let one = try CertificateAuthority(), two = try CertificateAuthority()
        let folder = try Folder()
        let path = try folder.write(one.pem, as: "roots.pem")
        let locations = SystemRoots(files: [path], folders: [])
        let shared = SharedRoots(interval: .zero)
        let source = { (roots: HTTPSession.TLS.Roots) in
            try TrustSource(HTTPSession.TLS(roots: roots), system: { locations }, shared: shared)
        }
        let sources = [try source(.system), try source(.system), try source(.systemAnd([.bytes(Bytes(two.pem))]))]
        let evaluators = try sources.map { try $0.evaluator() }
        #expect(evaluators[0].roots === evaluators[1].roots)
        #expect(evaluators.map(\.roots.count) == [1, 1, 2])
        #expect(shared.loads(of: locations) == 1)
        for (source, evaluator) in zip(sources, evaluators) { #expect(try source.evaluator() === evaluator) }
        #expect(shared.loads(of: locations) == 1)

        let chain = try two.issue(.server("api.test")).chain
        #expect(evaluators[0].decide(chain, host: HostIdentity("api.test")).refusal?.reason == .unknownIssuer)
        try folder.write(one.pem + two.pem, as: "roots.pem", inPlace: true)
        let renewed = try sources.map { try $0.evaluator() }
        #expect(renewed[0].decide(chain, host: HostIdentity("api.test")).refusal == nil)
        #expect(renewed[0].key != evaluators[0].key)
        #expect(renewed[2].roots.count == 2)
        #expect(shared.loads(of: locations) == 2)
    }

    @Test func `revocation lists are read when the session is made`() throws {
        let authority = try CertificateAuthority()
        let revoked = try authority.issue(.server("api.test"))
        let list = try authority.revocationList(revoking: revoked)
        for source in [list.der, Bytes(list.pem)] {
            var tls = HTTPSession.TLS(roots: .only([.bytes(authority.certificate.der)]))
            tls.revocation.lists = [.bytes(source)]
            let decision = try TrustSource(tls).evaluator().decide(revoked.chain, host: HostIdentity("api.test"))
            #expect(decision.refusal?.reason == .revoked)
        }
        for garbage in [Bytes("garbage"), Bytes(authority.pem), .empty] {
            var tls = HTTPSession.TLS()
            tls.revocation.lists = [.bytes(garbage)]
            #expect(throws: NetworkError.TrustConfigurationError.self) { try TrustSource(tls) }
        }
    }

    static let lowered: [(@Sendable (inout HTTPSession.TLS) throws -> Void, [HTTPSession.SecurityWarning.Kind])] = [
        ({ _ in }, []), ({ $0.policy = try pinned() }, []),
        ({ $0.policy = .insecure }, [.everyServerIsTrusted]),
        ({ $0.policy.allowsInvalidCertificates = true }, [.invalidCertificatesAreAllowed]),
        ({ $0.policy.validatesDomainName = false }, [.hostNamesAreNotChecked]),
        ({ $0.policy.pins = [try .init(`Security policy`.key)] }, [.pinsAreIgnored]),
        ({ $0.keyLog = .environment }, [.secretsAreLogged]),
        ({ $0.revocation.allowsMissingLists = true }, []),
    ]

    @Test(.rows("SP-15"), arguments: lowered.indices)
    func `settings that lower security are reported once`(index: Int) throws {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: MockTransport())
        try Self.lowered[index].0(&configuration.tls)
        let kinds = Kinds()
        configuration.securityWarningHandler = { kinds.note($0) }
        let session = try HTTPSession(configuration)
        try session.replace(tls: configuration.tls)
        #expect(kinds.all == Self.lowered[index].1)
    }

    @Test func `a server believed against the policy is told once for each host`() {
        let kinds = Kinds()
        let warnings = SecurityWarnings { kinds.note($0) }
        for host in ["a.test", "a.test", "b.test"] {
            warnings.note(HTTPSession.SecurityWarning(.refusedServerWasTrusted, "again", host: host))
        }
        #expect(kinds.all == [.refusedServerWasTrusted, .refusedServerWasTrusted])
    }

    @Test func `nothing secret is in a description`() throws {
        let identity = HTTPSession.ClientIdentity.pkcs12(.bytes("secret"), passphrase: "secret")
        var tls = HTTPSession.TLS()
        tls.identity = identity
        let credential = HTTPSession.AuthenticationChallenge.Credential.identity(identity)
        for text in [
            "\(identity)", String(reflecting: identity), "\(tls)", "\(credential)", String(reflecting: credential),
        ] {
            #expect(!text.contains("secret"))
        }
    }
}

/// What was told.
private final class Kinds: Sendable {
    private let kinds = Mutex<[HTTPSession.SecurityWarning.Kind]>([])

    var all: [HTTPSession.SecurityWarning.Kind] { kinds.withLock { $0 } }

    func note(_ warning: HTTPSession.SecurityWarning) {
        kinds.withLock { $0.append(warning.kind) }
    }
}
