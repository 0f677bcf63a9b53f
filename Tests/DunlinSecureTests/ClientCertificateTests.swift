import COpenSSL
import DunlinTesting
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `A client certificate` {
    static let versions: [TLSSettings.Version] = [.tls12, .tls13]

    @Test(arguments: versions, [true, false])
    func `a client certificate is shown when the server asks for it`(version: TLSSettings.Version, isRequired: Bool)
        throws
    {
        let server = try Scene.server {
            $0.latest = version.number
            $0.asksForCertificate = true
            $0.requiresCertificate = isRequired
        }
        let identity = try Scene.identity()
        var pair = try Pair(TLSContext(), Scene.peer { $0.identity = identity }, server)
        #expect(try pair.run() == .open)
        #expect(pair.server.isOpen)
        #expect(pair.server.peerCertificate == (try Scene.client.get().der))
    }

    @Test(arguments: versions)
    func `a client certificate is not shown to a server that does not ask`(version: TLSSettings.Version) throws {
        let identity = try Scene.identity()
        let server = try Scene.server { $0.latest = version.number }
        var pair = try Pair(TLSContext(), Scene.peer { $0.identity = identity }, server)
        #expect(try pair.run() == .open)
        #expect(pair.server.peerCertificate == nil)
        #expect(pair.isIdentityAskedFor == false)
    }

    @Test(arguments: versions)
    func `a client certificate may be missing where the server does not require it`(version: TLSSettings.Version) throws
    {
        let server = try Scene.server {
            $0.latest = version.number
            $0.asksForCertificate = true
        }
        var pair = try Pair(TLSContext(), Scene.peer(), server)
        #expect(try pair.run() == .open)
        #expect(pair.isIdentityAskedFor == true)
    }

    @Test(arguments: versions)
    func `the error says that a client certificate is required and missing`(version: TLSSettings.Version) throws {
        let server = try Scene.server {
            $0.latest = version.number
            $0.requiresCertificate = true
        }
        var pair = try Pair(TLSContext(), Scene.peer(), server)
        #expect(throws: TLSError.clientCertificateRequired) { try pair.run() }
    }

    @Test(arguments: versions, [true, false])
    func `a handshake is suspended while the caller is asked for a client certificate`(
        version: TLSSettings.Version, isGiven: Bool
    ) throws {
        let server = try Scene.server {
            $0.latest = version.number
            $0.asksForCertificate = true
        }
        var pair = try Pair(TLSContext(), Scene.peer { $0.asksForIdentity = true }, server)
        #expect(try pair.run() == .suspended(.clientCertificate))
        #expect(pair.engine.acceptableIssuers == ["CN=api.test"])
        #expect(throws: TLSError.closed) { try pair.send([1]) }
        let identity = isGiven ? try Scene.identity() : nil
        _ = try pair.engine.answer(identity: identity, into: &pair.plaintext, answering: &pair.wire)
        #expect(try pair.run() == .open)
        #expect((pair.server.peerCertificate != nil) == isGiven)
    }

    @Test(arguments: versions)
    func `a caller can be asked about trust and a client certificate, about trust first`(version: TLSSettings.Version)
        throws
    {
        let server = try Scene.server {
            $0.latest = version.number
            $0.asksForCertificate = true
        }
        let peer = Scene.peer {
            $0.asksForIdentity = true
            $0.asksAboutTrust = true
        }
        var pair = try Pair(TLSContext(), peer, server)
        #expect(try pair.run(cut: 1) == .suspended(.trust))
        _ = try pair.engine.answer(trust: .accepted(path: []), into: &pair.plaintext, answering: &pair.wire)
        #expect(try pair.run(cut: 1) == .suspended(.clientCertificate))
        _ = try pair.engine.answer(identity: Scene.identity(), into: &pair.plaintext, answering: &pair.wire)
        #expect(try pair.run(cut: 1) == .open)
        #expect(pair.server.peerCertificate != nil)
    }

    @Test(arguments: versions, [true, false])
    func `a client certificate that the caller gave, or not, is asked for again on the next connection`(
        version: TLSSettings.Version, isGiven: Bool
    ) throws {
        let context = try TLSContext()
        let server = try Scene.server {
            $0.latest = version.number
            $0.asksForCertificate = true
        }
        for _ in 0..<2 {
            var pair = try Pair(context, Scene.peer { $0.asksForIdentity = true }, server)
            #expect(try pair.run() == .suspended(.clientCertificate))
            let identity = isGiven ? try Scene.identity() : nil
            _ = try pair.engine.answer(identity: identity, into: &pair.plaintext, answering: &pair.wire)
            #expect(try pair.run() == .open)
            #expect(pair.engine.isResumed == false)
        }
    }
}

extension Pair {
    fileprivate var isIdentityAskedFor: Bool {
        if case .unasked = engine.state.pointee.identity { false } else { true }
    }
}
