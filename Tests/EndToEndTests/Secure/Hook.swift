import Dunlin
import DunlinTesting
import Synchronization

/// Answers as told, and remembers what it was asked.
final class Hook: Sendable {
    private let answers:
        @Sendable (HTTPSession.AuthenticationChallenge) async -> HTTPSession.AuthenticationChallenge.Answer
    private let log = Mutex<[HTTPSession.AuthenticationChallenge]>([])

    init(
        _ answers:
            @escaping @Sendable (HTTPSession.AuthenticationChallenge) async ->
            HTTPSession.AuthenticationChallenge.Answer
    ) {
        self.answers = answers
    }

    /// Says that it is asked, and has nothing to object once the other gate opens.
    convenience init(_ asked: LoopbackServer.Gate, until goOn: LoopbackServer.Gate) {
        self.init { _ in
            asked.open()
            do { try await goOn.opened() } catch { return .cancel(error) }
            return .performDefault
        }
    }

    var asked: [HTTPSession.AuthenticationChallenge] { log.withLock { $0 } }

    /// One letter for each question: believed servers, refused servers, client certificates, protection spaces.
    var questions: String {
        asked.reduce(into: "") { text, challenge in
            switch challenge.kind {
            case .serverTrust(.accepted): text += "b"
            case .serverTrust(.refused): text += "r"
            case .clientCertificate: text += "c"
            case .protectionSpace: text += "p"
            }
        }
    }

    var hook: HTTPSession.AuthenticationHandler {
        { challenge in
            self.log.withLock { $0.append(challenge) }
            return await self.answers(challenge)
        }
    }

    /// Believes everybody.
    static var trusting: Hook {
        Hook { if case .serverTrust = $0.kind { .useCredential(.trustDespiteRefusal) } else { .performDefault } }
    }

    /// Shows a certificate of this authority's to servers that ask.
    static func presenting(_ issued: IssuedCertificate) throws -> Hook {
        let identity = HTTPSession.ClientIdentity.pem(.bytes(Bytes(try issued.chainPEM + issued.privateKeyPEM)))
        return Hook {
            if case .clientCertificate = $0.kind { .useCredential(.identity(identity)) } else { .performDefault }
        }
    }
}
