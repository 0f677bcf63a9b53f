import Dunlin
import DunlinTesting
import Testing

/// A handshake that ends after each so many bytes of the server's, in each of the ways it can.
@Suite(.timeLimit(.minutes(10)))
struct `A handshake that is cut off` {
    static let versions: [LoopbackServer.TLS.Version] = [.v1_2, .v1_3]

    private enum End: CaseIterable, Sendable {
        case close, reset, cancelledTask, cancelledByHandle, droppedSession

        func fault(after count: Int) -> LoopbackServer.HandshakeFault {
            switch self {
            case .close: .close(after: count)
            case .reset: .reset(after: count)
            case .cancelledTask, .cancelledByHandle, .droppedSession: .stall(after: count)
            }
        }
    }

    @Test(arguments: End.allCases, versions)
    private func `a handshake that is cut anywhere leaves nothing behind`(end: End, version: LoopbackServer.TLS.Version)
        async throws
    {
        try await Self.play(version) { (stage: SecureStage) async throws in
            let length = try await Self.length(stage)
            // The first bytes one by one, where a record begins, and places between from there on.
            for count in Array(0..<6) + Array(stride(from: 6, to: length - 1, by: 23)) + [length - 1] {
                let (before, sent) = (stage.server.connectionCount, stage.server.bytesSent)
                stage.server.onConnect(.handshake(end.fault(after: count)))
                try await Self.suffer(end, stage) {
                    try await stage.server.wait { $0.accepted > before && $0.bytesSent >= sent + count }
                }
                try await stage.server.wait { $0.open == 0 }
                #expect(stage.session.connections.open == 0, "after \(count) bytes")
            }
            // TLS 1.3 is done for us before the server has sent its tickets: then a request may be on its way.
            if version == .v1_2 { #expect(stage.server.requests.isEmpty) }
            #expect(stage.server.handshakes.count == 1)
            try await stage.expectHealthy()
        }
    }

    private static func suffer(_ end: End, _ stage: SecureStage, _ isStuck: () async throws -> Void) async throws {
        switch end {
        case .close, .reset:
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect([.connectionClosed, .secureConnectionFailed].contains(error.code), "\(error)")
            #expect(error.phase == .tls || error.requestMayHaveBeenSent, "\(error)")
            #expect(error.isSafeToRetry)
        case .cancelledTask:
            let session = stage.session
            let task = Task { _ = try await session.get("x", as: .bytes) }
            try await isStuck()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        case .cancelledByHandle:
            let session = stage.session
            let task = Task { _ = try await session.get("x", as: .bytes) }
            try await isStuck()
            for task in await session.tasks.all { await session.tasks.cancel(task.id) }
            let error = try await NetworkError.thrown { _ = try await task.value }
            #expect(error.code == .cancelled)
        case .droppedSession:
            let task = try orphan(of: stage)
            try await isStuck()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    /// A request whose session nobody else holds.
    private static func orphan(of stage: SecureStage) throws -> Task<Void, any Error> {
        let session = try stage.anotherSession()
        return Task { _ = try await session.get("x", as: .bytes) }
    }

    /// How many bytes the server sends, at least, until it is done with a handshake: signatures differ in length.
    private static func length(_ stage: SecureStage) async throws -> Int {
        try await stage.session.prewarm(1)
        try await stage.server.wait { $0.handshakes == 1 }
        let length = stage.server.bytesSent - 16
        try stage.session.reloadTLS()
        try await stage.server.wait { $0.open == 0 }
        return length
    }

    private static func play(
        _ version: LoopbackServer.TLS.Version, _ play: (SecureStage) async throws -> Void
    ) async throws {
        try await SecureStage.with(
            tolerating: true,
            tls: { tls, _ in
                tls.versions = version...version
                tls.clientCertificate = .requested
            },
            configure: { configuration, cast in
                let client = try cast.authority.issue(.client("Ada"))
                configuration.tls.identity = .pem(.bytes(Bytes(client.chainPEM + (try client.privateKeyPEM))))
                configuration.tls.resumesSessions = false
            }, play)
    }

    @Test(arguments: [1, 2, 7, 100, 1000], versions)
    func `a handshake that comes in pieces succeeds`(size: Int, version: LoopbackServer.TLS.Version) async throws {
        try await Self.play(version) { (stage: SecureStage) async throws in
            stage.server.onConnect(.handshake(.drip(size: size)))
            stage.server.respond { _ in .response(body: "fit") }
            for _ in 0..<2 { #expect(try await stage.session.get("x", as: .string).value == "fit") }
            #expect(stage.server.requests.allSatisfy { $0.handshake?.clientCertificate != nil })
            #expect(stage.server.failures.isEmpty)
        }
    }

    /// Anything but what a server says: none of it is taken for a handshake, and none of it hangs.
    @Test(
        arguments: [
            "", "\u{16}", "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "220 mail.test ESMTP\r\n",
            Bytes([22, 3, 3, 0xff, 0xff]), Bytes([22, 3, 3, 0, 4, 2, 0xff, 0xff, 0xff]),
            Bytes([21, 3, 3, 0, 2, 2, 70]),
            Bytes([21, 3, 3, 0, 2, 1, 0]), Bytes([22, 3, 3, 0, 4, 14, 0, 0, 0]), Bytes([20, 3, 3, 0, 1, 1]),
            Bytes([23, 3, 3, 0, 1, 1]), Bytes([UInt8](repeating: 0x80, count: 300)),
        ] as [Bytes])
    func `nonsense in a handshake is an error, which says if the server speaks no TLS`(answer: Bytes) async throws {
        try await Self.play(.v1_3) { (stage: SecureStage) async throws in
            stage.server.onConnect(.handshake(.answer(answer)))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect([.connectionClosed, .secureConnectionFailed].contains(error.code), "\(error)")
            #expect(error.phase == .tls)
            #expect(!error.requestMayHaveBeenSent && error.isSafeToRetry)
            if answer.starts(with: "HTTP".utf8) || answer.starts(with: "SSH".utf8) {
                #expect(
                    error.reason == "the server does not speak TLS on this port; use http://, or its port for https")
            }
            try await stage.expectHealthy()
        }
    }
}
