import DunlinSecure
import DunlinTesting
import DunlinTypes
import Glibc
import Testing

/// An engine and a server with nothing between them but the test.
struct Pair: ~Copyable {
    var engine: TLSEngine
    let server: ServerEnd
    /// What the engine decrypted.
    var plaintext: [UInt8] = []
    /// What the engine has to send.
    var wire: [UInt8] = []
    /// What the server sent, all in all.
    var sent: [UInt8] = []

    init(_ context: TLSContext, _ peer: TLSPeer, _ server: TestServer, now: Int64 = Pair.now) throws {
        let end = try server.connection()
        engine = try TLSEngine(context, peer, now: now)
        self.server = end
    }

    static var now: Int64 { Int64(time(nil)) }

    /// Carries bytes both ways until nobody has any left, the server's in pieces of `cut`, the engine's of `back`.
    @discardableResult
    mutating func run(cut: Int = .max, back: Int = .max) throws(TLSError) -> TLSEngine.Status {
        if engine.status == .handshaking, sent.isEmpty { _ = try engine.start(into: &wire) }
        while true {
            for piece in wire.pieces(of: back) { server.receive(piece) }
            wire = []
            server.advance()
            let answer = server.takeOutput()
            if answer.isEmpty { return engine.status }
            try deliver(answer, cut: cut)
        }
    }

    mutating func deliver(_ bytes: [UInt8], cut: Int = .max) throws(TLSError) {
        sent += bytes
        for piece in bytes.pieces(of: cut) {
            _ = try Bytes(piece).withUnsafeBytes { piece throws(TLSError) in
                try engine.receive(piece, into: &plaintext, answering: &wire)
            }
        }
    }

    mutating func send(_ bytes: [UInt8]) throws(TLSError) {
        try Bytes(bytes).withUnsafeBytes { bytes throws(TLSError) in try engine.send(bytes, into: &wire) }
    }
}

extension [UInt8] {
    func pieces(of size: Int) -> [[UInt8]] {
        if count <= size { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

/// One authority and one certificate for all tests: they take time to make.
enum Scene {
    static let authority = Result { try CertificateAuthority() }
    static let certificate = Result { try authority.get().issue(.server("api.test")) }
    static let client = Result { try authority.get().issue(.client("somebody")) }

    static func server(_ change: (inout TestServer.Options) -> Void = { _ in }) throws -> TestServer {
        var options = TestServer.Options()
        change(&options)
        return try TestServer(certificate.get(), options)
    }

    static func peer(
        trust: any PeerTrust = TestTrust(), _ change: (inout TLSPeer) -> Void = { _ in }
    ) -> TLSPeer {
        var peer = TLSPeer(HTTP.Origin(scheme: .https, host: "api.test"), serverName: "api.test", trust: trust)
        change(&peer)
        return peer
    }

    static func identity() throws -> ClientIdentity {
        let client = try client.get()
        return try ClientIdentity(pem: Bytes(client.chainPEM + client.privateKeyPEM))
    }
}
