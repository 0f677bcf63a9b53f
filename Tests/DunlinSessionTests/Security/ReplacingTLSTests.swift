import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Replacing how connections are secured` {
    private static func configuration(_ base: String? = "https://api.test") -> HTTPSession.Configuration {
        let transport = MockTransport()
        transport.on(.get, "/x").respond().always()
        return HTTPSession.Configuration(baseURL: base, transport: transport)
    }

    private static func pinned() throws -> HTTPSession.TLS {
        HTTPSession.TLS(policy: SecurityPolicy(mode: .publicKey, pins: [try .init(`Security policy`.key)]))
    }

    @Test func `replaced TLS settings decide from then on whether clear text is refused`() async throws {
        let session = try HTTPSession(Self.configuration())
        _ = try await session.get("http://api.test/x", as: .bytes)
        try session.replace(tls: Self.pinned())
        #expect(try session.tls == Self.pinned())
        let error = try await networkError { _ = try await session.get("http://api.test/x", as: .bytes) }
        #expect(error?.code == .clearTextRefused)
        try session.replace(tls: HTTPSession.TLS())
        _ = try await session.get("http://api.test/x", as: .bytes)
    }

    @Test(.rows("HS-16", "SP-24")) func `TLS settings that cannot be used replace nothing`() async throws {
        let session = try HTTPSession(Self.configuration("http://api.test"))
        let (broken, missing) = (HTTPSession.TLS(roots: .only(["/nonexistent.pem"])), "/nonexistent.pem")
        var nobody = HTTPSession.TLS()
        nobody.identity = .pem(.file(missing))
        var unknown = HTTPSession.TLS()
        unknown.ciphers = "ROT13"
        for (tls, code) in [
            (try Self.pinned(), NetworkError.Code.insecurePinningConfiguration), (broken, .invalidConfiguration),
            (nobody, .invalidConfiguration), (unknown, .invalidConfiguration),
        ] {
            let error = #expect(throws: NetworkError.self) { try session.replace(tls: tls) }
            #expect(error?.code == code)
            #expect(session.tls == HTTPSession.TLS())
        }
        _ = try await session.get("x", as: .bytes)
    }

    @Test func `a warning tells what is less safe with replaced TLS settings`() throws {
        let told = Mutex<[HTTPSession.SecurityWarning.Kind]>([])
        var configuration = Self.configuration()
        configuration.securityWarningHandler = { warning in told.withLock { $0.append(warning.kind) } }
        let session = try HTTPSession(configuration)
        #expect(told.withLock { $0.isEmpty })
        for _ in 0..<2 { try session.replace(tls: HTTPSession.TLS(policy: .insecure)) }
        #expect(told.withLock { $0 } == [.everyServerIsTrusted])
        var wrong = HTTPSession.TLS(roots: .only(["/nonexistent.pem"]))
        wrong.policy.validatesDomainName = false
        #expect(throws: NetworkError.self) { try session.replace(tls: wrong) }
        #expect(told.withLock { $0.count } == 1, "what was refused is no warning")
    }
}
