import Dunlin
import DunlinTesting
import LeakChecking
import Synchronization
import Testing

/// Responses that are not delivered, over a transport that is somebody else's: letting go of them is all that tells it
/// that nobody reads on.
@Suite(.timeLimit(.minutes(10))) struct `A response that another request follows` {
    /// Counts the bodies that there are.
    private final class Bodies: Sendable {
        private let alive = Atomic<Int>(0)
        var count: Int { alive.load(ordering: .relaxed) }

        func made() { alive.add(1, ordering: .relaxed) }
        func gone() { alive.subtract(1, ordering: .relaxed) }
    }

    /// A body that nobody has read yet.
    private final class Unread: TransportResponse.BodyStream {
        private let bodies: Bodies

        init(_ bodies: Bodies) {
            self.bodies = bodies
            bodies.made()
        }

        deinit { bodies.gone() }

        func next() async throws -> Bytes? { nil }
        var expectedLength: Int? { nil }
        var trailers: Fields { Fields() }
        var hop: HTTP.Hop { HTTP.Hop() }
    }

    /// Answers once with the status, and then well. Remembers how many bodies there were at each request.
    private final class Answering: Transport {
        let bodies = Bodies()
        private let status: HTTP.Status
        private let seen = Mutex<[Int]>([])

        init(_ status: HTTP.Status) {
            self.status = status
        }

        var found: [Int] { seen.withLock { $0 } }

        func exchange(_ request: TransportRequest) async throws -> TransportResponse {
            let isFirst = seen.withLock { seen in
                seen.append(bodies.count)
                return seen.count == 1
            }
            guard isFirst else { return TransportResponse(head: ResponseHead(status: .ok), body: .bytes("fit")) }
            let head = ResponseHead(version: .http11, status: status, fields: ["Location": "/to"])
            return TransportResponse(head: head, body: .stream(Unread(bodies)))
        }
    }

    @Test(arguments: [302, 417] as [HTTP.Status])
    func `a response is released before the request that follows it is sent`(status: HTTP.Status) async throws {
        let transport = Answering(status)
        let session = try HTTPSession(.init(baseURL: "http://api.test", transport: transport))
        var options = HTTPSession.Options()
        options.expectsContinue = true
        #expect(try await session.put("x", body: .string("a"), options: options, as: .string).value == "fit")
        #expect(transport.found == [0, 0])
    }

    @Test func `a response is released before the wait for another attempt`() async throws {
        let (transport, clock) = (Answering(503), ManualClock())
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test", transport: transport)
        configuration.retry = .constant(attempts: 2, every: .seconds(1))
        try configuration.use(clock)
        let session = try HTTPSession(configuration)
        async let response = session.get("x", as: .string)
        try await clock.waitForRetries()
        #expect(transport.found == [0] && transport.bodies.count == 0)
        try await clock.advance(by: .seconds(1))
        #expect(try await response.value == "fit")
    }
}
