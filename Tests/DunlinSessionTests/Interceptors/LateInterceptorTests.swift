import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

/// What an interceptor sends or makes late, when its time or it itself is over.
@Suite(.timeLimit(.minutes(10))) struct `An interceptor that is late` {
    private typealias Scope = @Sendable (@escaping HTTPSession.Interception.Intercept) -> HTTPSession.Interception

    private static let scopes: [Scope] = [{ .call($0) }, { .exchange($0) }]

    private static func mocked(
        _ interception: HTTPSession.Interception, change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> Mocked {
        try Mocked {
            $0.interceptors = [interception]
            change(&$0)
        }
    }

    /// What it makes in place of a sending whose time was short has the time of the whole call.
    @Test func `a body that is made instead of what came too late may take as long as the call`() async throws {
        for scope in Self.scopes {
            let clock = ManualClock()
            let mock = try Self.mocked(
                scope { request, next in
                    do {
                        return try await next(request) { $0.deadline = HTTP.Instant(nanoseconds: 0) }
                    } catch {
                        return TransportResponse(head: ResponseHead(status: .ok), body: .stream(MadeBody()))
                    }
                }
            ) { try? $0.use(clock) }
            #expect(try await mock.session.get("a", as: .string).value == "made")
        }
    }

    /// A body that comes in one piece.
    private final class MadeBody: TransportResponse.BodyStream {
        private let left = Mutex<Bytes?>("made")
        var hop: HTTP.Hop { HTTP.Hop() }
        var trailers: Fields { Fields() }
        var expectedLength: Int? { nil }

        func next() async throws -> Bytes? {
            left.withLock { left in
                defer { left = nil }
                return left
            }
        }
    }

    /// How many began and have not ended.
    private final class Late: Sendable {
        private let count = Mutex(0)
        var isEmpty: Bool { count.withLock { $0 == 0 } }
        func began() { count.withLock { $0 += 1 } }
        func ended() { count.withLock { $0 -= 1 } }
    }

    /// Its task outlives it, and the request is over at any moment.
    @Test func `a next that is called as its interceptor returns ends without harm`() async throws {
        for scope in Self.scopes {
            let late = Late()
            let mock = try Self.mocked(
                scope { request, next in
                    late.began()
                    Task.detached { @Sendable in
                        do { _ = try await next(request) } catch {}
                        late.ended()
                    }
                    for _ in 0..<Int.random(in: 0..<6) { await Task.yield() }
                    return TransportResponse(head: ResponseHead(status: .ok), body: .bytes("own"))
                })
            mock.transport.on(.get, "/a").respond(body: "x").always()
            for _ in 0..<500 { #expect(try await mock.session.get("a", as: .string).value == "own") }
            try await eventually("all have ended", following: mock.transport) { late.isEmpty }
        }
    }
}
