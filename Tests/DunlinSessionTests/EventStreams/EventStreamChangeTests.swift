import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

/// What interceptors and hooks make of the requests of a stream of events.
@Suite(.timeLimit(.minutes(10))) struct `A stream of events whose requests are changed` {
    private static let type: Fields = ["Content-Type": "text/event-stream"]
    private typealias Change = @Sendable (inout HTTPSession.Configuration) -> Void

    private static let changes: [(String, Change)] = [
        (
            "an interceptor of calls",
            { $0.interceptors = [.call { request, next in try await next(request) { $0.head.method = .post } }] }
        ),
        (
            "an interceptor of exchanges",
            { $0.interceptors = [.exchange { request, next in try await next(request) { $0.head.method = .post } }] }
        ),
    ]

    private static func mocked(_ change: Change) throws -> (Mocked, ManualClock) {
        let clock = ManualClock()
        let mocked = try Mocked(clock: clock) {
            $0.use(SeededGenerator(seed: 1))
            try $0.use(clock)
            change(&$0)
        }
        return (mocked, clock)
    }

    @Test(arguments: changes.indices, [true, false])
    func `a GET that is sent as a POST is not sent again`(index: Int, breaks: Bool) async throws {
        let (mocked, clock) = try Self.mocked(Self.changes[index].1)
        let reset = NetworkError(
            .connectionClosed, "reset", phase: .receive, requestMayHaveBeenSent: true, isSafeToRetry: true)
        mocked.transport.otherwise { _ in
            .stream(["data: a\n\n"], fields: Self.type, failing: breaks ? reset : nil)
        }
        var data: [String] = []
        let error = try await networkError {
            try await clock.skippingWaits {
                for try await event in mocked.session.events("x") {
                    data.append(event.data)
                    if data.count > 3 { break }
                }
            }
        }
        #expect(data == ["a"] && (error != nil) == breaks, "\(Self.changes[index].0): \(String(describing: error))")
        #expect(mocked.transport.requests.map(\.method) == [.post])
    }

    @Test func `a redirect whose hook makes a POST of it is not followed twice`() async throws {
        let (mocked, clock) = try Self.mocked {
            $0.hooks.redirect = { proposal in
                var next = proposal.next
                next.method = .post
                return .modify(next)
            }
        }
        mocked.transport.otherwise { request in
            request.target == "/x"
                ? .respond(.found, fields: ["Location": "/y"]) : .stream(["data: a\n\n"], fields: Self.type)
        }
        var data: [String] = []
        try await clock.skippingWaits {
            for try await event in mocked.session.events("x") {
                data.append(event.data)
                if data.count > 3 { break }
            }
        }
        #expect(data == ["a"] && mocked.transport.requests.map(\.target) == ["/x", "/y"])
    }

    @Test func `an ID of an origin to which an interceptor has moved the request is not sent to the first one`()
        async throws
    {
        let number = Atomic(0)
        let spare = HTTP.Origin(scheme: .http, host: "spare.test", port: 80)
        let (mocked, clock) = try Self.mocked {
            $0.interceptors = [
                .call { request, next in
                    let isSecond = number.add(1, ordering: .relaxed).newValue == 2
                    return try await next(request) { if isSecond { $0.head.origin = spare } }
                }
            ]
        }
        mocked.transport.otherwise { request in
            .stream(["id: of-\(request.origin.host)\ndata: a\n\n"], fields: Self.type)
        }
        var count = 0
        try await clock.skippingWaits {
            for try await _ in mocked.session.events("x") {
                count += 1
                if count == 4 { break }
            }
        }
        let ids = mocked.transport.requests.map { $0.fields["Last-Event-ID"] }
        #expect(ids == [nil, nil, "of-api.test", "of-api.test"], "\(ids)")
    }
}
