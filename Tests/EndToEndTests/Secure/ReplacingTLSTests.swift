import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `Replacing what a session believes` {
    static func roots(_ authority: CertificateAuthority) -> HTTPSession.TLS {
        HTTPSession.TLS(roots: .only([.bytes(authority.certificate.der)]))
    }

    @Test(.rows("SP-20"))
    func `replacing TLS settings closes idle secured connections and forgets their TLS sessions`() async throws {
        let plain = try LoopbackServer()
        defer { plain.stop() }
        plain.respond { _ in .response() }
        try await SecureStage.with { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            let clear = HTTP.Target(plain.baseURL + "/x")
            _ = try await stage.session.get("x", as: .bytes)
            _ = try await stage.session.get(clear, as: .bytes)
            try stage.session.replace(tls: stage.session.tls)
            #expect(stage.session.connections.idle == 1)
            try await stage.server.wait { $0.open == 0 }
            _ = try await stage.session.get("x", as: .bytes)
            _ = try await stage.session.get(clear, as: .bytes)
            #expect(stage.server.handshakes.map(\.wasResumed) == [false, false])
            #expect(plain.connectionCount == 1)
        }
    }

    @Test func `new TLS settings count for the next request, whether stricter or looser`() async throws {
        let other = try CertificateAuthority()
        try await SecureStage.with(tolerating: true) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response() }
            _ = try await stage.session.get("x", as: .bytes)
            try stage.session.replace(tls: Self.roots(other))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.trustRefusal?.reason == .unknownIssuer)
            try stage.session.replace(tls: Self.roots(stage.authority))
            _ = try await stage.session.get("x", as: .bytes)
            var pinned = Self.roots(stage.authority)
            pinned.policy = SecurityPolicy(mode: .publicKey, pins: [try .init(other.certificate.pin)])
            try stage.session.replace(tls: pinned)
            let mismatch = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(mismatch.trustRefusal?.reason == .pinMismatch)
            #expect(stage.server.requests.count == 2)
        }
    }

    @Test func `a request on its way ends on its old connection, which no other request then uses`() async throws {
        let other = try CertificateAuthority()
        try await SecureStage.with(
            tolerating: true, configure: { configuration, _ in configuration.connections.perOrigin = 1 }
        ) {
            (stage: SecureStage) async throws in
            let gate = LoopbackServer.Gate()
            stage.server.enqueue(.response(body: "old").waiting(for: gate))
            let session = stage.session
            let running = Task { try await session.get("old", as: .string).value }
            _ = try await stage.server.waitForRequests(1)
            let waiting = Task { try await session.get("new", as: .string).value }
            try await eventually("it waits", following: stage.loop, stage.server) { session.connections.waiting == 1 }
            try session.replace(tls: Self.roots(other))
            gate.open()
            #expect(try await running.value == "old")
            let error = try await NetworkError.thrown { _ = try await waiting.value }
            #expect(error.trustRefusal?.reason == .unknownIssuer, "who waits is served by what counts now")
            #expect(stage.server.requests.count == 1)
            try await stage.server.wait { $0.open == 0 }
        }
    }

    /// The connection is agreed on by what counted when its handshake began.
    @Test(arguments: [true, false])
    func `new TLS settings do not change a handshake that is underway`(isStreamed: Bool) async throws {
        let (asked, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
        let other = try CertificateAuthority()
        let hook = Hook(asked, until: goOn)
        try await SecureStage.with(
            tolerating: true, configure: { configuration, _ in configuration.authenticationHandler = hook.hook }
        ) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: isStreamed ? Bytes([UInt8](repeating: 1, count: 1 << 20)) : "x")
            }
            let session = stage.session
            let running = Task { try await session.get("x", as: .bytes).value.count }
            try await asked.opened()
            try session.replace(tls: Self.roots(other))
            goOn.open()
            #expect(try await running.value == (isStreamed ? 1 << 20 : 1))
            #expect(session.connections.open == 0)
            let error = try await NetworkError.thrown { _ = try await session.get("x", as: .bytes) }
            #expect(error.trustRefusal?.reason == .unknownIssuer)
        }
    }

    @Test func `TLS settings can be reloaded at any moment`() async throws {
        try await SecureStage.with(configure: { configuration, _ in configuration.connections.perOrigin = 4 }) {
            (stage: SecureStage) async throws in
            stage.server.respond { .response(body: Bytes($0.target)) }
            let session = stage.session
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<200 {
                    group.addTask {
                        if index.isMultiple(of: 10) { try session.reloadTLS() }
                        #expect(try await session.get("\(index)", as: .string).value == "/\(index)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(session.connections.leased == 0 && session.connections.open <= 4)
            await session.shutdown()
            try session.reloadTLS()
            #expect(session.connections.open == 0)
        }
    }
}
