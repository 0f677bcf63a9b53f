import COpenSSL
import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `A TLS session` {
    static let kinds: [(latest: TLSSettings.Version, usesTickets: Bool)] = [
        (.tls12, true), (.tls12, false), (.tls13, true), (.tls13, false),
    ]

    static func server(_ version: TLSSettings.Version, _ usesTickets: Bool = true) throws -> TestServer {
        try Scene.server {
            $0.latest = version.number
            $0.usesTickets = usesTickets
        }
    }

    @Test(arguments: kinds)
    func `a TLS session is resumed with the path that was verified for it`(
        kind: (latest: TLSSettings.Version, usesTickets: Bool)
    ) throws {
        let context = try TLSContext()
        let server = try Self.server(kind.latest, kind.usesTickets)
        let path = [try #require(Certificate(der: Scene.certificate.get().der))]
        let trust = TestTrust(.accepted(path: path))
        for round in 0..<5 {
            var pair = try Pair(context, Scene.peer(trust: trust), server)
            #expect(try pair.run() == .open)
            #expect(pair.engine.isResumed == (round > 0))
            #expect(pair.server.isResumed == (round > 0))
            #expect(pair.engine.decision == .accepted(path: path))
            try pair.send([1, 2, 3])
            try pair.run()
            #expect(pair.server.received == [1, 2, 3])
        }
        #expect(trust.decisions == 1)
    }

    @Test(
        arguments: [TLSSettings.Version.tls12, .tls13], ["origin", "name", "trust", "identity", "path", "context"])
    func `a TLS session is not resumed under another trust decision`(
        version: TLSSettings.Version, change: String
    ) throws {
        var context = try TLSContext()
        let server = try Self.server(version)
        var first = try Pair(context, Scene.peer(), server)
        try first.run()
        #expect(context.tickets?.count ?? 0 > 0)
        var peer = Scene.peer()
        var now = Pair.now
        switch change {
        case "origin": peer.origin = HTTP.Origin(scheme: .https, host: "api.test", port: 8443)
        case "name": peer.serverName = "other.test"
        case "trust": peer.trust = TestTrust(key: 1)
        case "identity": peer.identity = try Scene.identity()
        case "path": now += 90_000
        default: context = try TLSContext()
        }
        var second = try Pair(context, peer, server, now: now)
        #expect(try second.run() == .open)
        #expect(second.engine.isResumed == false)
    }

    @Test func `a TLS session is not resumed when its path has expired or is no longer accepted`() throws {
        let context = try TLSContext()
        let server = try Self.server(.tls13)
        let expired = try Scene.authority.get().issue(.server("api.test").expired)
        let path = HTTP.TrustDecision.accepted(path: [try #require(Certificate(der: expired.der))])
        for (stillAccepts, isResumed) in [(true, false), (true, true), (false, false), (true, true)] {
            var pair = try Pair(context, Scene.peer(trust: TestTrust(path, stillAccepts: stillAccepts)), server)
            try pair.run()
            #expect(pair.engine.isResumed == isResumed)
        }
    }

    @Test func `a TLS session that the server has forgotten leads to a full handshake`() throws {
        for version in [TLSSettings.Version.tls12, .tls13] {
            let context = try TLSContext()
            var first = try Pair(context, Scene.peer(), Self.server(version))
            try first.run()
            let trust = TestTrust()
            var second = try Pair(context, Scene.peer(trust: trust), Self.server(version))
            #expect(try second.run() == .open)
            #expect(second.engine.isResumed == false)
            #expect(trust.decisions == 1)
        }
    }

    @Test func `a ticket of TLS 1.3 is shown once`() throws {
        let context = try TLSContext()
        let server = try Self.server(.tls13)
        var first = try Pair(context, Scene.peer(), server)
        try first.run()
        #expect(context.tickets?.count == 2)
        // Three connections at once: two tickets.
        var offered: [Bool] = []
        for _ in 0..<3 {
            let pair = try Pair(context, Scene.peer(), server)
            offered.append(pair.engine.state.pointee.offeredPath != nil)
        }
        #expect(offered == [true, true, false])
    }

    @Test func `a TLS session is not kept when the settings forbid it`() throws {
        var settings = TLSSettings()
        settings.resumes = false
        let context = try TLSContext(settings)
        let server = try Self.server(.tls13)
        for _ in 0..<2 {
            var pair = try Pair(context, Scene.peer(), server)
            try pair.run()
            #expect(pair.engine.isResumed == false)
        }
        #expect(context.tickets == nil)
    }

    /// One who was asked believed the server although the rules do not. That says nothing for the next connection.
    @Test(arguments: [TLSSettings.Version.tls12, .tls13], [true, false])
    func `a TLS session is kept only if the rules themselves believed the server`(
        version: TLSSettings.Version, isOverruled: Bool
    ) throws {
        let context = try TLSContext()
        let server = try Self.server(version)
        let path = [try #require(Certificate(der: Scene.certificate.get().der))]
        let refusal = NetworkError.TrustRefusal(.unknownIssuer, host: "api.test", path: path)
        let rules = TestTrust(isOverruled ? .refused(refusal) : .accepted(path: path))
        var peer = Scene.peer(trust: rules)
        peer.asksAboutTrust = true
        var pair = try Pair(context, peer, server)
        #expect(try pair.run() == .suspended(.trust))
        _ = try pair.engine.answer(trust: .accepted(path: path), into: &pair.plaintext, answering: &pair.wire)
        #expect(try pair.run() == .open)
        #expect((context.tickets?.count == 0) == isOverruled)
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func `a TLS session is neither resumed nor kept where the peer forbids it`(version: TLSSettings.Version) throws {
        let context = try TLSContext()
        let server = try Self.server(version)
        var first = try Pair(context, Scene.peer(), server)
        try first.run()
        let count = try #require(context.tickets?.count)
        #expect(count > 0)
        var peer = Scene.peer()
        peer.resumes = false
        var second = try Pair(context, peer, server)
        #expect(try second.run() == .open)
        #expect(second.engine.isResumed == false)
        #expect(context.tickets?.count == count)
    }

    @Test(arguments: [TLSSettings.Version.tls12, .tls13])
    func `a TLS session is forgotten when its connection fails`(version: TLSSettings.Version) throws {
        let context = try TLSContext()
        let server = try Self.server(version)
        var first = try Pair(context, Scene.peer(), server)
        try first.run()
        var second = try Pair(context, Scene.peer(), server)
        try second.run()
        #expect(second.engine.isResumed == true)
        #expect(throws: TLSError.self) { try second.deliver([23, 3, 3, 0, 30] + [UInt8](repeating: 7, count: 30)) }
        #expect(context.tickets?.count == 0)
    }
}
