import DunlinReactor
import DunlinSecure
import DunlinTypes
import Glibc
import Testing

@testable import DunlinTesting
@testable import DunlinTransport

/// Over TLS 1.3 a client's last message waits for its first request. Some servers send tickets without it.
@Suite(.timeLimit(.minutes(5))) struct `A new stream whose client has not finished its handshake` {
    private static let identity = Result { try CertificateAuthority().issue(.server("api.test")) }

    private struct Believer: PeerTrust {
        var key: Certificate.Fingerprint { .init(unchecked: Bytes([UInt8](repeating: 0, count: 32))) }

        func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision { .accepted(path: []) }
        func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool { true }
    }

    /// A stream that has not sent its last message, and a server that has it all the same and so speaks at once.
    private final class Scene {
        let pair: ChannelPair
        let stream: ByteStream
        let server: LoopbackServer.TLSSession

        init(tickets: Int) throws {
            pair = try ChannelPair()
            var tls = LoopbackServer.TLS(try identity.get())
            (tls.versions, tls.tickets) = (.v1_3 ... .v1_3, tickets)
            server = try LoopbackServer.TLSSession(tls)
            let origin = HTTP.Origin(scheme: .https, host: "api.test")
            var engine = try TLSEngine(
                TLSContext(), TLSPeer(origin, serverName: "api.test", trust: Believer()), now: Int64(time(nil)))
            var (outbox, plaintext): (Outbox, [UInt8]) = (Outbox(), [])
            var wire: [UInt8] = []
            _ = try engine.start(into: &wire)
            server.feed(wire)
            _ = server.handshake()
            let status = try Bytes(server.takeOutput()).withUnsafeBytes { bytes in
                try engine.receive(bytes, into: &plaintext, answering: &outbox.bytes)
            }
            try #require(status == .open && plaintext.isEmpty && !outbox.isEmpty)
            server.feed(outbox.bytes)
            _ = server.handshake()
            let security = HTTP.ConnectionSecurity(
                version: "TLS 1.3", cipher: "", applicationProtocol: nil, isResumed: false, verifiedPath: [])
            stream = .tls(TLSChannel(over: .plain(pair.channel), engine, outbox, surplus: .empty, security))
        }

        func say(_ words: String) {
            var words = words
            _ = words.withUTF8 { server.write(UnsafeRawBufferPointer($0)) }
        }

        /// Sends what the server has to say, or its first so many bytes.
        func deliver(_ count: Int = .max) throws {
            let bytes = server.takeOutput().prefix(count)
            let sent = bytes.withUnsafeBytes { send(pair.far, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            try #require(!bytes.isEmpty && sent == bytes.count)
        }
    }

    @Test(arguments: [1, 2, 8]) func `session tickets do not count as something that came unasked`(tickets: Int) throws
    {
        let scene = try Scene(tickets: tickets)
        #expect(scene.stream.isUntouched())
        try scene.deliver()
        #expect(scene.stream.isUntouched())
        #expect(scene.stream.isUntouched())
    }

    @Test(arguments: [0, 2]) func `bytes from the server count as unasked, behind session tickets or alone`(
        tickets: Int
    ) throws {
        let scene = try Scene(tickets: tickets)
        scene.say("HTTP/1.1 200 OK\r\n\r\n")
        try scene.deliver()
        #expect(!scene.stream.isUntouched())
        #expect(!scene.stream.isUntouched())
    }

    /// The rest may be an answer.
    @Test func `the beginning of a TLS record counts as unasked`() throws {
        let scene = try Scene(tickets: 1)
        try scene.deliver(20)
        #expect(!scene.stream.isUntouched())
    }

    @Test func `the end of the stream counts as unasked`() throws {
        let scene = try Scene(tickets: 1)
        try scene.deliver()
        scene.pair.hangUp()
        #expect(!scene.stream.isUntouched())
    }
}
