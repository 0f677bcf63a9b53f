import COpenSSL
import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `Trust in a TLS handshake` {
    static let versions: [TLSSettings.Version] = [.tls12, .tls13]

    static func server(
        _ version: TLSSettings.Version, _ change: (inout TestServer.Options) -> Void = { _ in }
    ) throws -> TestServer {
        try Scene.server {
            $0.latest = version.number
            change(&$0)
        }
    }

    @Test(arguments: versions)
    func `a refusal of trust ends the handshake with that refusal and an alert`(version: TLSSettings.Version) throws {
        var pair = try Pair(TLSContext(), Scene.peer(trust: TestTrust(TestTrust.refusing)), Self.server(version))
        #expect(throws: TLSError.untrusted(TestTrust.refusal)) { try pair.run() }
        #expect(pair.engine.decision == TestTrust.refusing)
        #expect(!pair.wire.isEmpty)
        pair.server.receive(pair.wire)
        #expect(!pair.server.isOpen)
        #expect(throws: TLSError.untrusted(TestTrust.refusal)) { try pair.send([1]) }
        #expect(throws: TLSError.untrusted(TestTrust.refusal)) { try pair.engine.receiveEnd() }
    }

    @Test(arguments: versions, [1, .max])
    func `a handshake is suspended until the question about trust is answered`(version: TLSSettings.Version, cut: Int)
        throws
    {
        let server = try Self.server(version) { $0.requiresCertificate = true }
        let identity = try Scene.identity()
        let peer = Scene.peer {
            $0.asksAboutTrust = true
            $0.identity = identity
        }
        var pair = try Pair(TLSContext(), peer, server)
        #expect(try pair.run(cut: cut) == .suspended(.trust))
        #expect(pair.engine.decision == .accepted(path: []))
        #expect(pair.wire.isEmpty)
        #expect(throws: TLSError.closed) { try pair.send([1]) }
        #expect(pair.server.peerCertificate == nil)
        _ = try pair.engine.answer(trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
        #expect(try pair.run(cut: cut) == .open)
        #expect(pair.server.peerCertificate == (try Scene.client.get().der))
    }

    @Test(arguments: versions)
    func `a denial of trust ends the handshake`(version: TLSSettings.Version) throws {
        var pair = try Pair(TLSContext(), Scene.peer { $0.asksAboutTrust = true }, Self.server(version))
        try pair.run()
        #expect(throws: TLSError.untrusted(TestTrust.refusal)) {
            _ = try pair.engine.answer(trust: TestTrust.refusing, into: &pair.plaintext, answering: &pair.wire)
        }
        #expect(pair.server.peerCertificate == nil)
        #expect(!pair.wire.isEmpty)
    }

    @Test(arguments: versions)
    func `an answer about trust overrules the rules`(version: TLSSettings.Version) throws {
        let peer = Scene.peer(trust: TestTrust(TestTrust.refusing)) { $0.asksAboutTrust = true }
        var pair = try Pair(TLSContext(), peer, Self.server(version))
        #expect(try pair.run() == .suspended(.trust))
        #expect(pair.engine.decision == TestTrust.refusing)
        _ = try pair.engine.answer(trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
        #expect(try pair.run() == .open)
    }

    @Test(arguments: versions)
    func `a question about trust is asked again when a session is resumed`(version: TLSSettings.Version) throws {
        let context = try TLSContext()
        let server = try Self.server(version)
        let peer = Scene.peer { $0.asksAboutTrust = true }
        for round in 0..<3 {
            var pair = try Pair(context, peer, server)
            #expect(try pair.run() == .suspended(.trust))
            if round == 2 {
                #expect(throws: TLSError.untrusted(TestTrust.refusal)) {
                    _ = try pair.engine.answer(trust: TestTrust.refusing, into: &pair.plaintext, answering: &pair.wire)
                }
                break
            }
            _ = try pair.engine.answer(trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
            #expect(try pair.run() == .open)
            #expect(pair.engine.isResumed == (round > 0))
        }
    }

    @Test(arguments: versions)
    func `a handshake can be closed while the question about trust is open`(version: TLSSettings.Version) throws {
        var pair = try Pair(TLSContext(), Scene.peer { $0.asksAboutTrust = true }, Self.server(version))
        try pair.run()
        pair.engine.close(into: &pair.wire)
        #expect(pair.wire.isEmpty)
        let late = try pair.engine.answer(
            trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
        #expect(late == .closed)
    }

    @Test(arguments: versions)
    func `a handshake fails when the stream ends while the question about trust is open`(version: TLSSettings.Version)
        throws
    {
        var pair = try Pair(TLSContext(), Scene.peer { $0.asksAboutTrust = true }, Self.server(version))
        try pair.run()
        #expect(throws: TLSError.endedDuringHandshake(afterFirstByte: true)) { try pair.engine.receiveEnd() }
        #expect(throws: TLSError.endedDuringHandshake(afterFirstByte: true)) {
            _ = try pair.engine.answer(trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
        }
    }

    @Test func `a TLS engine takes only so many bytes while the question about trust is open`() throws {
        var pair = try Pair(TLSContext(), Scene.peer { $0.asksAboutTrust = true }, Scene.server())
        try pair.run()
        let error = #expect(throws: TLSError.self) {
            for _ in 0..<100 { try pair.deliver([UInt8](repeating: 23, count: 10_000)) }
        }
        #expect(
            error?.description == "the server sent too much over TLS: more than 262144 bytes, a fixed limit, during a "
                + "decision about certificates")
    }

    @Test func `the evaluator decides on trust by its rules and for one host`() throws {
        let authority = try Scene.authority.get()
        let root = try #require(Certificate(der: authority.certificate.der))
        let evaluator = try TrustEvaluator(TrustRules(), roots: TrustStore([root]))
        for (host, isTrusted) in [("api.test", true), ("other.test", false)] {
            let trust = HostTrust(evaluator, for: HostIdentity(host))
            var pair = try Pair(TLSContext(), Scene.peer(trust: trust), Scene.server())
            if isTrusted {
                #expect(try pair.run() == .open)
                guard case .accepted(let path) = pair.engine.decision else {
                    Issue.record("not accepted")
                    continue
                }
                #expect(path.map(\.der) == [try Scene.certificate.get().der, authority.certificate.der])
                #expect(trust.stillAccepts(path, at: Pair.now))
                #expect(!trust.stillAccepts(path, at: Pair.now + 40 * 365 * 86_400))
            } else {
                let error = #expect(throws: TLSError.self) { try pair.run() }
                #expect(error?.description.contains("the certificate is for api.test, not for other.test") == true)
            }
        }
    }

    @Test(arguments: versions, [nil, "a staple"])
    func `a decision on trust is made once the staple has come`(version: TLSSettings.Version, staple: String?) throws {
        var settings = TLSSettings()
        settings.asksForStaple = true
        let server = try Self.server(version) { $0.staple = staple }
        for cut in [1, .max] {
            let trust = TestTrust()
            var pair = try Pair(TLSContext(settings), Scene.peer(trust: trust), server)
            #expect(try pair.run(cut: cut) == .open)
            #expect(trust.staple == staple.map { Bytes($0) })
            #expect(trust.decisions == 1)
            var refused = try Pair(
                TLSContext(settings), Scene.peer(trust: TestTrust(TestTrust.refusing)), server)
            #expect(throws: TLSError.untrusted(TestTrust.refusal)) { try refused.run(cut: cut) }
            #expect(!refused.server.isOpen)
        }
    }

    @Test(arguments: versions, [true, false])
    func `trust is asked about before a certificate or content leaves, though the staple came late`(
        version: TLSSettings.Version, asksForCertificate: Bool
    ) throws {
        var settings = TLSSettings()
        settings.asksForStaple = true
        let server = try Self.server(version) {
            $0.staple = "a staple"
            $0.requiresCertificate = asksForCertificate
        }
        let identity = try Scene.identity()
        let peer = Scene.peer {
            $0.asksAboutTrust = true
            $0.identity = identity
        }
        for isAccepted in [true, false] {
            var pair = try Pair(TLSContext(settings), peer, server)
            #expect(try pair.run() == .suspended(.trust))
            #expect(throws: TLSError.closed) { try pair.send([1]) }
            #expect(pair.server.peerCertificate == nil)
            if isAccepted {
                _ = try pair.engine.answer(trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
                #expect(try pair.run() == .open)
                #expect((pair.server.peerCertificate != nil) == asksForCertificate)
            } else {
                #expect(throws: TLSError.untrusted(TestTrust.refusal)) {
                    _ = try pair.engine.answer(trust: TestTrust.refusing, into: &pair.plaintext, answering: &pair.wire)
                }
                #expect(pair.server.peerCertificate == nil)
            }
        }
    }
}
