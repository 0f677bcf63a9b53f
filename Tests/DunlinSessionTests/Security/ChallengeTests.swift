import Dunlin
import DunlinSecure
import DunlinTesting
import LedgerRows
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Authentication challenges` {
    private static let origin = HTTP.Origin(scheme: .https, host: "api.test")
    private static let refusal = NetworkError.TrustRefusal(.expired, host: "api.test")
    private static let believed = HTTPSession.AuthenticationChallenge.Kind.serverTrust(.accepted(path: []))
    private static let refused = HTTPSession.AuthenticationChallenge.Kind.serverTrust(.refused(refusal))
    private static let identity = HTTPSession.AuthenticationChallenge.Credential.identity(.pem("me.pem"))

    private struct Custom: Error, Equatable {}

    /// An outcome, short enough for a table.
    private enum Result: Equatable {
        case proceeds, proceedsDespite, refuses(NetworkError.TrustRefusal.Reason), presents, presentsDefault,
            presentsNothing
        case fails(NetworkError.Code)
        case failsCustom

        init(_ outcome: ChallengeRules.Outcome) {
            self =
                switch outcome {
                case .proceed: .proceeds
                case .proceedDespite: .proceedsDespite
                case .refuse(let refusal): .refuses(refusal.reason)
                case .present: .presents
                case .presentDefault: .presentsDefault
                case .presentNothing: .presentsNothing
                case .fail(let error as NetworkError): .fails(error.code)
                case .fail: .failsCustom
                }
        }
    }

    private static let table:
        [(HTTPSession.AuthenticationChallenge.Kind, HTTPSession.AuthenticationChallenge.Answer, Result)] = [
            (believed, .performDefault, .proceeds), (believed, .useCredential(.trustDespiteRefusal), .proceeds),
            (believed, .useCredential(identity), .fails(.unusableCredential)),
            (believed, .reject, .refuses(.refusedByHook)), (believed, .cancel(), .fails(.cancelled)),
            (believed, .cancel(Custom()), .failsCustom),
            (refused, .performDefault, .refuses(.expired)),
            (refused, .useCredential(.trustDespiteRefusal), .proceedsDespite),
            (refused, .useCredential(identity), .fails(.unusableCredential)),
            (refused, .reject, .refuses(.expired)), (refused, .cancel(), .fails(.cancelled)),
            (refused, .cancel(Custom()), .failsCustom),
            (.clientCertificate(acceptableIssuers: []), .performDefault, .presentsDefault),
            (.clientCertificate(acceptableIssuers: []), .useCredential(identity), .presents),
            (
                .clientCertificate(acceptableIssuers: []), .useCredential(.trustDespiteRefusal),
                .fails(.unusableCredential)
            ),
            (.clientCertificate(acceptableIssuers: []), .reject, .presentsNothing),
            (.clientCertificate(acceptableIssuers: []), .cancel(), .fails(.cancelled)),
            (.clientCertificate(acceptableIssuers: []), .cancel(Custom()), .failsCustom),
        ]

    @Test(.rows("SM-83")) func `the kind of a challenge and the answer to it decide what happens`() {
        for (kind, response, result) in Self.table {
            let challenge = HTTPSession.AuthenticationChallenge(kind, origin: Self.origin)
            #expect(Result(ChallengeRules.outcome(of: response, to: challenge)) == result, "\(kind), \(response)")
        }
    }

    @Test(.rows("SM-84", "VD-6")) func `the default answer to a challenge counts where there are no hooks`() async {
        let hooks = ChallengeHooks()
        #expect(hooks.isEmpty)
        let outcome = { (kind: HTTPSession.AuthenticationChallenge.Kind) async in
            Result(await hooks.outcome(of: HTTPSession.AuthenticationChallenge(kind, origin: Self.origin)))
        }
        #expect(await outcome(Self.believed) == .proceeds)
        #expect(await outcome(Self.refused) == .refuses(.expired))
        #expect(await outcome(.clientCertificate(acceptableIssuers: [])) == .presentsDefault)
    }

    @Test(.rows("SM-80", "VD-6")) func `a challenge goes to the request's hook, then to the session's`() async {
        let challenge = HTTPSession.AuthenticationChallenge(Self.refused, origin: Self.origin)
        let trusting: HTTPSession.AuthenticationHandler = { _ in .useCredential(.trustDespiteRefusal) }
        let cancelling: HTTPSession.AuthenticationHandler = { _ in .cancel(Custom()) }
        let indifferent: HTTPSession.AuthenticationHandler = { _ in .performDefault }
        let table: [(HTTPSession.AuthenticationHandler?, HTTPSession.AuthenticationHandler?, Result)] = [
            (trusting, nil, .proceedsDespite), (nil, trusting, .proceedsDespite),
            (cancelling, trusting, .failsCustom), (indifferent, trusting, .proceedsDespite),
            (indifferent, nil, .refuses(.expired)), (indifferent, indifferent, .refuses(.expired)),
        ]
        for (request, session, result) in table {
            #expect(Result(await ChallengeHooks(session: session, request: request).outcome(of: challenge)) == result)
        }
    }

    @Test(.rows("SM-85")) func `a server that is refused is an error that says why, and what that means`() throws {
        let refused = NetworkError(.serverTrustFailed, "\(Self.refusal)", underlying: Self.refusal)
        let explained = NetworkError.explained(refused, at: Self.origin, url: "https://api.test/x")
        let error = try #require(explained as? NetworkError)
        #expect(error.code == .serverTrustFailed)
        #expect(error.reason.contains("expired on"))
        #expect(error.trustRefusal == Self.refusal)
        let failure = try #require(error.underlying as? HTTPSession.ServerTrustFailure)
        #expect(failure.host == "api.test" && failure.failingURL == "https://api.test/x")
        #expect(
            failure.description
                == "The certificate for this server is invalid. You might be connecting to a server that is "
                + "pretending to be “api.test” which could put your confidential information at risk.")
        #expect(HTTPSession.ServerTrustFailure.urlErrorCode == -1202)
    }

    @Test func `a server that is refused is an error that shows no secret of the URL`() throws {
        let refused = NetworkError(.serverTrustFailed, "\(Self.refusal)", underlying: Self.refusal)
        let url = "https://ada:hunter2@api.test/x?token=hunter2&ticket=hunter2&page=2"
        let explained = NetworkError.explained(refused, at: Self.origin, url: url, hiding: ["ticket"])
        let error = try #require(explained as? NetworkError)
        let failure = try #require(error.underlying as? HTTPSession.ServerTrustFailure)
        #expect(failure.failingURL == "https://api.test/x?token=***&ticket=***&page=2")
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("hunter2"))
    }

    @Test(.rows("SM-87"), arguments: [false, true], [false, true])
    func `a trust failure has the URL and the certificates when they are known`(hasURL: Bool, hasPath: Bool) throws {
        let path = hasPath ? [try #require(Certificate(der: CertificateAuthority().certificate.der))] : []
        let refusal = NetworkError.TrustRefusal(.unknownIssuer, host: "api.test", path: path)
        let refused = NetworkError(.serverTrustFailed, "\(refusal)", underlying: refusal)
        let error = NetworkError.explained(refused, at: Self.origin, url: hasURL ? "https://api.test" : nil)
        let failure = try #require((error as? NetworkError)?.underlying as? HTTPSession.ServerTrustFailure)
        #expect((failure.failingURL != nil) == hasURL)
        #expect((failure.peerCertificates?.count == 1) == hasPath)
    }

    @Test func `a request's authentication handler leaves its route and socket options as they are`() {
        var options = HTTPSession.Options()
        #expect(options.authenticationHandler == nil)
        options.authenticationHandler = { _ in .reject }
        options.hostOverrides = ["a.test": .v4(1, port: 1)]
        options.sockets = .value(HTTP.SocketOptions())
        #expect(options.authenticationHandler != nil && options.sockets != .session && !options.hostOverrides.isEmpty)
        options.authenticationHandler = nil
        options.sockets = .session
        options.hostOverrides = [:]
        #expect(options.rare == nil)
    }
}
