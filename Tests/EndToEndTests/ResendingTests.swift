import Dunlin
import DunlinTesting
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Bodies sent again` {
    static let count = 100_000

    enum OneShot: CaseIterable, Sendable {
        case plain, compressed, throttled

        func body() throws -> RequestBody {
            let body = RequestBody.stream(UploadPieces(total: 3000))
            return switch self {
            case .plain: body
            case .compressed: try body.compressed()
            case .throttled: try body.throttled(.init(packetSize: 1000, delay: .zero))
            }
        }
    }

    /// The connection is closed under the request, after its first bytes.
    @Test(arguments: [true, false])
    func `a body whose connection is dead is sent again only if it is replayable`(isReplayable: Bool) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response().closingOnNextRequest)
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            _ = try await stage.session.get("first", as: .bytes)
            let body: RequestBody =
                isReplayable
                ? .replayable { UploadPieces(total: Self.count) } : .stream(UploadPieces(total: Self.count))
            if isReplayable {
                let answer = try await stage.session.put("up", body: body, as: .string).value
                #expect(answer == "\(LoopbackServer.GeneratedBody.hash(length: Self.count))")
            } else {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.put("up", body: body, as: .bytes)
                }
                #expect(error.code == .connectionClosed)
            }
            #expect(stage.server.connectionCount == (isReplayable ? 2 : 1))
        }
    }

    /// Method, whether it has an `Idempotency-Key`, and whether twice is as once.
    static let repetitions: [(HTTP.Method, Bool, Bool)] = [
        (.post, true, true), (.post, false, false), (.patch, true, true), (.patch, false, false), (.put, false, true),
        (.query, false, true),
    ]

    @Test(arguments: repetitions, [10, count])
    func `a request with a body is sent again on a dead kept connection only where twice is as once`(
        repetition: (method: HTTP.Method, hasKey: Bool, isSentAgain: Bool), length: Int
    ) async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response().closingOnNextRequest)
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            _ = try await stage.session.get("first", as: .bytes)
            var options = HTTPSession.Options()
            if repetition.hasKey { options.fields["Idempotency-Key"] = "7" }
            func send() async throws -> String {
                let body = RequestBody.bytes(LoopbackServer.GeneratedBody.bytes(0..<length))
                return try await stage.session.request(
                    "up", method: repetition.method, body: body, options: options, as: .string
                ).value
            }
            if repetition.isSentAgain {
                #expect(try await send() == "\(LoopbackServer.GeneratedBody.hash(length: length))")
            } else {
                let error = try await NetworkError.thrown { _ = try await send() }
                #expect(error.code == .connectionClosed && !error.isSafeToRetry)
            }
            #expect(stage.server.connectionCount == (repetition.isSentAgain ? 2 : 1))
        }
    }

    /// The connection dies under it, and whoever answers on the next knows nothing of expectations.
    @Test func `a request refused with 417 is sent once more, though it had been sent again before`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response().closingOnNextRequest, .response(417).beforeBody)
            stage.server.respond { .response(body: Bytes("\($0.bodyHash)")) }
            _ = try await stage.session.get("first", as: .bytes)
            var options = HTTPSession.Options()
            (options.expectsContinue, options.continueTimeout) = (true, .seconds(600))
            let body = RequestBody.replayable { UploadPieces(total: Self.count) }
            let response = try await stage.session.put("up", body: body, options: options, as: .string)
            #expect(response.value == "\(LoopbackServer.GeneratedBody.hash(length: Self.count))")
            #expect(stage.server.requests.map { $0.fields["expect"] } == [nil, "100-continue", nil])
        }
    }

    @Test func `a one-shot body is never sent twice`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { _ in .response() }
            let body = RequestBody.stream(UploadPieces(total: Self.count))
            _ = try await stage.session.put("up", body: body, as: .bytes)
            let error = try await NetworkError.thrown { _ = try await stage.session.put("up", body: body, as: .bytes) }
            #expect(error.code == .bodyConsumed)
            #expect(stage.server.requests.filter(\.isComplete).count == 1)
        }
    }

    /// The peer closes while the head is being sent, so it is a race whether the body is taken. Its end is none: it is
    /// not taken once the next attempt counts on it.
    @Test(arguments: OneShot.allCases)
    func `a one-shot body goes to a retry only if no attempt takes it`(kind: OneShot) async throws {
        let policy = HTTPSession.RetryPolicy.exponential(
            attempts: 4, base: .milliseconds(1), cap: .milliseconds(1), budget: .unlimited)
        try await Stage.with(tolerating: true, configure: { $0.retry = policy }) { (stage: Stage) async throws in
            stage.server.respond { request in
                if request.connection.isMultiple(of: 2) { return .response(body: "kept") }
                return LoopbackServer.Reply([.close])
            }
            let codes = await withTaskGroup(of: [NetworkError.Code?].self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        var codes: [NetworkError.Code?] = []
                        for _ in 0..<50 {
                            do {
                                _ = try await stage.session.put("up", body: try kind.body(), as: .bytes)
                            } catch {
                                codes.append((error as? NetworkError)?.code)
                            }
                        }
                        return codes
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(codes).isSubset(of: [.connectionClosed]))
        }
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A request whose idle connection is dead` {
    /// All of them died together, as when a server was restarted.
    @Test(.rules("9112-9.3.1-3"), arguments: [3, 8])
    func `a request whose idle connection is dead is sent again on a fresh one`(cap: Int) async throws {
        try await Stage.with(tolerating: true, configure: { $0.connections.perOrigin = cap }) {
            (stage: Stage) async throws in
            stage.server.respond { $0.connection < 3 ? LoopbackServer.Reply([.close]) : .response(body: "fit") }
            #expect(try await stage.session.prewarm(3) == 3)
            #expect(try await stage.session.get("x", as: .string).value == "fit")
            #expect(stage.server.connectionCount == 4)
            #expect(stage.session.connections.open <= cap)
        }
    }
}
