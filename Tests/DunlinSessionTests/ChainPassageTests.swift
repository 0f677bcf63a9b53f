import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

/// How many stages a call passes. What it does not pass costs it nothing.
@Suite struct `A call on its way` {
    /// How often each stage was asked for a driver.
    private final class Count: Sendable {
        private let asked = Mutex<[String: Int]>([:])
        var all: [String: Int] { asked.withLock { $0 } }

        func note(_ stage: any Stage) {
            asked.withLock { $0["\(type(of: stage))", default: 0] += 1 }
        }
    }

    private struct Counted: Stage {
        let base: any Stage
        let count: Count

        func seesAll(of call: LiveCall) -> Bool { base.seesAll(of: call) }

        func driver(for call: LiveCall) -> (any StageDriver)? {
            count.note(base)
            return base.driver(for: call)
        }
    }

    private static let others = [
        "RetryStage": 1, "RedirectStage": 1, "ProvenanceStage": 1, "PasswordStage": 1, "ConnectivityStage": 1,
        "ResendStage": 1,
    ]

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
            Case(configure: { $0.cookies = CookieJar() }, passed: ["CookieStage": 1]),
            Case(
                configure: { $0.cookies = CookieJar() }, options: hooks, passed: ["CookieStage": 1]),
            Case(configure: { $0.cookies = CookieJar() }, options: noCookies, passed: ["CookieStage": 1]),
            Case(configure: { $0.secretFields = HTTP.SecretFields(["X-Key"]) }, passed: ["SecretFieldStage": 1]),
            Case(configure: { $0.retry = .exponential(attempts: 2) }, passed: ["RetryStage": 1]),
            Case(options: .init(retry: .exponential(attempts: 2)), passed: ["RetryStage": 1]),
            Case(configure: { $0.authenticationHandler = { _ in .reject } }, passed: [:]),
            Case(configure: { $0.credentials = .password(user: "a", password: "b") }, passed: [:]),
            // Who is answered with anything but a success is seen by all, each once.
            Case(status: 404, passed: others),
            Case(
                configure: { $0.cookies = CookieJar() }, status: 404,
                passed: others.merging(["CookieStage": 1]) { $1 }),
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
