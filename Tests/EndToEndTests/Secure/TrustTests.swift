import Dunlin
import DunlinTesting
import LedgerRows
import Testing

/// Everything that a server may show, and what comes of it: no bad one is believed, no good one refused.
@Suite(.timeLimit(.minutes(10)))
struct `A server's proof of who it is` {
    static let versions: [LoopbackServer.TLS.Version] = [.v1_2, .v1_3]

    @Test(.rules("9110-4.3.3-1"), arguments: TrustTable.good, versions)
    func `a server with good proof of its identity is trusted`(example: TrustCase, version: LoopbackServer.TLS.Version)
        async throws
    {
        try await example.play(version) { (stage: SecureStage) async throws in
            stage.server.respond { _ in .response(body: "x").closingAfter }
            // In full, and then resumed where the server gives tickets.
            for index in 0..<2 {
                let response = try await stage.session.get("x", as: .string)
                #expect(response.value == "x")
                let security = try #require(response.metrics.hops.last?.security)
                #expect(security.verifiedPath.first?.der == stage.cast.issued.der)
                #expect(security.isResumed == (index > 0 && example.name != "no tickets"))
            }
            #expect(stage.server.failures.isEmpty)
            #expect(stage.server.handshakes.count == 2)
        }
    }

    @Test(
        .rows("SM-85", "SP-23"), .rules("9110-4.3.3-1", "9110-4.3.4-1", "9110-4.3.4-4", "9110-4.3.4-5", "9110-17.1-1"),
        arguments: RefusalTable.bad, versions)
    func `a server with bad proof of its identity is refused with the reason`(
        example: TrustCase, version: LoopbackServer.TLS.Version
    ) async throws {
        try await example.play(version) { (stage: SecureStage) async throws in
            for _ in 0..<2 {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.post("secret", body: .bytes("secret"), as: .bytes)
                }
                Self.check(error, example)
                let failure = error.underlying as? HTTPSession.ServerTrustFailure
                #expect(failure?.failingURL?.hasSuffix("/secret") ?? (error.trustRefusal == nil))
            }
            let ahead = try await NetworkError.thrown { try await stage.session.prewarm(1) }
            Self.check(ahead, example)
            #expect((ahead.underlying as? HTTPSession.ServerTrustFailure)?.failingURL == nil)
            #expect(stage.server.requests.isEmpty && stage.server.handshakes.isEmpty)
            #expect(stage.session.connections.open == 0)
        }
    }

    private static func check(_ error: NetworkError, _ example: TrustCase) {
        #expect(error.phase == .tls)
        #expect(error.hop?.duration(of: .tls) != nil && error.hop?.duration(of: .connect) != nil)
        #expect(!error.requestMayHaveBeenSent && error.isSafeToRetry)
        switch example.verdict {
        case .believed: Issue.record("\(error)")
        case .failed(let words):
            #expect(error.code == .secureConnectionFailed)
            #expect(error.trustRefusal == nil)
            #expect(error.reason.contains(words), "\(error)")
        case .refused(let reason, let words):
            #expect(error.code == .serverTrustFailed, "\(error)")
            #expect(error.trustRefusal?.reason == reason, "\(error)")
            #expect(error.reason.contains(words), "\(error.reason)")
            let failure = error.underlying as? HTTPSession.ServerTrustFailure
            #expect(failure?.description.hasPrefix("The certificate for this server is invalid.") == true)
            #expect(failure?.peerCertificates?.isEmpty == false)
        }
    }
}
