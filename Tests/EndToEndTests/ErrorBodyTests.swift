import Dunlin
import DunlinTesting
import LedgerRows
import Testing

/// What an error carries of a body that was refused.
@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Bodies in errors` {
    struct Problem: Decodable {
        var lines: [String]
    }

    enum Way: CaseIterable, Sendable {
        case plain
        case watched
        case download

        func send(_ session: HTTPSession, _ options: HTTPSession.Options) async throws {
            var options = options
            switch self {
            case .plain: _ = try await session.get("x", options: options, as: .bytes)
            case .watched:
                options.hooks.response = { _, _ in nil }
                _ = try await session.get("x", options: options, as: .bytes)
            case .download:
                _ = try await session.download("x", options: options, to: .file("/tmp/dunlin-nothing-comes-here"))
            }
        }
    }

    /// 120 KB of JSON.
    private static let problem: Bytes = {
        let line = #""What went wrong, and why, and for how long it has been so.""#
        return Bytes("{\"lines\":[\([String](repeating: line, count: 2_000).joined(separator: ","))]}")
    }()

    private static var refusal: LoopbackServer.Reply {
        .response(422, fields: ["Content-Type": "application/json"], body: problem)
    }

    private func refused(
        _ way: Way, _ stage: Stage, _ options: HTTPSession.Options = .init()
    ) async throws -> NetworkError {
        stage.server.enqueue(Self.refusal)
        let error = try await NetworkError.thrown { try await way.send(stage.session, options) }
        #expect(error.code == .unacceptableStatus)
        return error
    }

    @Test(.rules("9110-15.5-1"), arguments: Way.allCases)
    func `a long body of a refused response can be decoded from its error`(way: Way)
        async throws
    {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            #expect(Self.problem.count > 120_000)
            let error = try await refused(way, stage)
            #expect(try error.body(as: Problem.self).lines.count == 2_000)
        }
    }

    @Test(arguments: Way.allCases, [0, 10, 300_000])
    func `the body in an error is as long as the request allows, or else the session`(way: Way, limit: Int) async throws
    {
        try await Stage.with(tolerating: true, configure: { $0.limits.errorBodyBytes = limit }) {
            (stage: Stage) async throws in
            let all = Self.problem.count
            #expect(try await refused(way, stage).body?.count == min(limit, all))
            for own in [0, 1_000, .max] {
                var options = HTTPSession.Options()
                options.errorBodyLimit = own == .max ? .none : .bytes(own)
                #expect(try await refused(way, stage, options).body == Self.problem[0..<min(own, all)])
            }
        }
    }

    @Test(arguments: [Way.plain, .watched], [0, 1, 2])
    func `a refused body that is too long to be read is refused for its status all the same`(way: Way, form: Int)
        async throws
    {
        let pieces = stride(from: 0, to: Self.problem.count, by: 300).map {
            Self.problem[$0..<min($0 + 300, Self.problem.count)]
        }
        let reply = [
            Self.refusal, .chunked([Self.problem], status: 422), .chunked(pieces, status: 422),
        ][form]
        try await Stage.with(tolerating: true, configure: { $0.limits.bodyBytes = 1_000 }) {
            (stage: Stage) async throws in
            for kept in [10, 1_000, .max] {
                var options = HTTPSession.Options()
                options.errorBodyLimit = kept == .max ? .none : .bytes(kept)
                stage.server.enqueue(reply)
                let error = try await NetworkError.thrown { try await way.send(stage.session, options) }
                #expect(error.code == .unacceptableStatus && error.response?.status == 422, "\(error)")
                #expect(error.body == Self.problem[0..<min(kept, 1_000)])
                #expect((error.underlying as? NetworkError)?.code == .limitExceeded && error.hop != nil)
            }
        }
    }

    @Test func `the body in an error is no longer than the limit even if it was cut`() async throws {
        try await Stage.with(tolerating: true, configure: { $0.limits.errorBodyBytes = 10 }) {
            (stage: Stage) async throws in
            stage.server.enqueue(Self.refusal.truncatedAfter(50_000))
            let error = try await NetworkError.thrown { _ = try await stage.session.get("x", as: .bytes) }
            #expect(error.code == .connectionClosed && error.response?.status == 422)
            #expect(error.body == Self.problem[0..<10])
        }
    }
}
