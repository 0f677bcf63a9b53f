import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

/// How many stages a call passes. What it does not pass costs it nothing.
@Suite(.timeLimit(.minutes(10))) struct `A call on its way` {
    /// How often each stage was called.
    private final class Count: Sendable {
        private let called = Mutex<[String: Int]>([:])
        var all: [String: Int] { called.withLock { $0 } }

        func note(_ stage: any Stage) {
            called.withLock { $0["\(type(of: stage))", default: 0] += 1 }
        }
    }

    private struct Counted: Stage {
        let base: any Stage
        let count: Count

        func interest(in sending: Sending) -> StageInterest { base.interest(in: sending) }

        func send(
            _ request: TransportRequest, _ sending: inout Sending, _ next: Next
        ) async throws -> TransportResponse {
            count.note(base)
            return try await base.send(request, &sending, next)
        }
    }

    /// The stages that judge what is no success.
    private static let judges = ["RedirectStage": 1, "PasswordStage": 1, "ResendStage": 1]
    /// The stage that must see every hop of a session with cookies.
    private static let cookies = ["CookieStage": 1]

    /// The stages that a GET passes: of a session, with options, and answered so.
    struct Case: Sendable {
        var configure: @Sendable (inout HTTPSession.Configuration) -> Void = { _ in }
        var options = HTTPSession.Options()
        var status = HTTP.Status.ok
        let passed: [String: Int]
    }

    private static let cases: [Case] = {
        var hooks = HTTPSession.Options(label: "x")
        hooks.hooks.completed = { _ in }
        var noCookies = HTTPSession.Options()
        noCookies.handlesCookies = false
        return [
            Case(passed: [:]), Case(options: hooks, passed: [:]),
            Case(configure: { $0.cookies = CookieJar() }, passed: cookies),
            Case(configure: { $0.cookies = CookieJar() }, options: hooks, passed: cookies),
            Case(configure: { $0.cookies = CookieJar() }, options: noCookies, passed: cookies),
            Case(configure: { $0.secretFields = HTTP.SecretFields(["X-Key"]) }, passed: ["SecretFieldStage": 1]),
            Case(configure: { $0.retry = .exponential(attempts: 2) }, passed: [:]),
            Case(options: .init(retry: .exponential(attempts: 2)), passed: [:]),
            Case(configure: { $0.authenticationHandler = { _ in .reject } }, passed: [:]),
            Case(configure: { $0.credentials = .password(user: "a", password: "b") }, passed: [:]),
            // Each sees once who is answered with anything but a success.
            Case(status: 404, passed: judges),
            Case(configure: { $0.cookies = CookieJar() }, status: 404, passed: judges.merging(cookies) { $1 }),
        ]
    }()

    @Test(arguments: cases.indices) func `a call passes the stages that have to see it, and no other`(
        index: Int
    ) async throws {
        let (wanted, transport, count) = (Self.cases[index], MockTransport(), Count())
        transport.on(.get, "/").respond(wanted.status, body: "x").always()
        var configuration = HTTPSession.Configuration(baseURL: "http://example.test", transport: transport)
        wanted.configure(&configuration)
        let session = try HTTPSession(configuration)
        let chain = session.tasks.chain
        let stages = chain.stages.map { Counted(base: $0, count: count) }
        session.tasks.open(Chain(chain.settings, over: chain.callTransport, stages: stages))
        var options = wanted.options
        options.validatesResponse = false
        for round in 1...3 {
            #expect(try await session.get("/", options: options, as: .string).value == "x")
            #expect(count.all == wanted.passed.mapValues { $0 * round })
        }
    }
}
