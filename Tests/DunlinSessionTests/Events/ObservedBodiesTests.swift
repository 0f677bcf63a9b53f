import Dunlin
import DunlinTesting
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `What an observer is told of bodies and heads` {
    /// Notes what it is told.
    private final class Notes: HTTPSession.Observer, HTTPSession.RequestObserver, HTTPSession.ExchangeObserver {
        let wantsBodies: Bool
        private let state = Mutex<[String]>([])

        init(wantsBodies: Bool = true) { self.wantsBodies = wantsBodies }

        var all: [String] { state.withLock(\.self) }
        private func note(_ text: String) { state.withLock { $0.append(text) } }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? { self }
        func exchangeBegan(
            _ exchange: HTTPSession.Exchange, adding fields: inout Fields
        ) -> (any HTTPSession.ExchangeObserver)? { self }

        func answered(_ unsent: RequestHead, by response: ResponseHead) {
            note("unsent \(unsent.target) \(response.status)")
        }
        func sends(_ request: TransportRequest) {
            note("sends \(request.head.target) \(request.head.fields["X"] ?? "")")
        }
        func sends(_ piece: Bytes) { note("> \(String(piece))") }
        func answered(_ head: ResponseHead) { note("head \(head.status)") }
        func received(_ piece: Bytes) { note("< \(String(piece))") }
        func ended(_ end: HTTPSession.ExchangeEnd) { note("end \(end.body?.rawValue ?? "none")") }
        func ended(_ completion: HTTPSession.Completion) { note("over") }
    }

    private static func session(
        _ transport: MockTransport, _ notes: Notes, _ configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "http://a.test", transport: transport)
        configuration.observers = [notes]
        configure(&configuration)
        return try HTTPSession(configuration)
    }

    @Test(arguments: [true, false]) func `it is told the head as sent, and pieces in order if it wants them`(
        wantsBodies: Bool
    ) async throws {
        let (transport, notes) = (MockTransport(), Notes(wantsBodies: wantsBodies))
        transport.otherwise { _ in .stream(["c", "d"]) }
        let client = try Self.session(transport, notes) { configuration in
            configuration.interceptors = [
                .exchange { request, next in try await next(request) { $0.head.fields.append(name: "X", value: "y") } }
            ]
        }
        let body = RequestBody.replayable {
            AsyncThrowingStream<Bytes, any Error> { stream in
                for piece in ["a", "b"] { stream.yield(Bytes(piece)) }
                stream.finish()
            }
        }
        #expect(try await client.post("p", body: body, as: .string).value == "cd")
        let told = ["sends /p y", "> a", "> b", "head 200", "< c", "< d", "end complete", "over"]
        #expect(notes.all == told.filter { wantsBodies || !"<>".contains($0.first ?? " ") })
        #expect(transport.requests.map(\.body) == ["ab"])
    }

    @Test func `it is told each request of an interceptor that sends twice, and each retry`() async throws {
        let (transport, notes) = (MockTransport(), Notes())
        transport.on(.get, "/p").respond(503).thenRespond(body: "x").thenRespond(503).thenRespond(body: "y")
        let client = try Self.session(transport, notes) { configuration in
            configuration.retry = .exponential(attempts: 2, base: .milliseconds(1))
            configuration.interceptors = [
                .exchange { request, next in
                    let first = try await next(request)
                    return first.head.status == 503 && request.head.fields["X-Once"] == nil
                        ? try await next(request) : first
                }
            ]
        }
        #expect(try await client.get("p", as: .string).value == "x")
        #expect(notes.all == ["sends /p ", "sends /p ", "head 200", "< x", "end complete", "over"])
        #expect(try await client.get("p", fields: ["X-Once": "1"], as: .string).value == "y")
        #expect(
            notes.all.suffix(8) == [
                "sends /p ", "head 503", "end complete", "sends /p ", "head 200", "< y", "end complete", "over",
            ])
    }

    @Test func `it is told what the cache answers, without an exchange`() async throws {
        let (transport, notes) = (MockTransport(), Notes())
        transport.on(.get, "/p").respond(200, fields: ["Cache-Control": "max-age=60"], body: "x")
        let client = try Self.session(transport, notes) { $0.cache = HTTPSession.Cache(.small) }
        for _ in 0..<2 { #expect(try await client.get("p", as: .string).value == "x") }
        #expect(notes.all.suffix(2) == ["unsent /p 200", "over"])
        #expect(transport.requests.count == 1)
    }

    @Test func `it is told of an answer that requests share`() async throws {
        let (transport, notes) = (MockTransport(), Notes())
        let gate = Settlement<Void>()
        transport.otherwise { _ in
            await gate.value
            return .respond(body: "x")
        }
        let client = try Self.session(transport, notes) { $0.coalescing.isOn = true }
        async let first = client.get("p", as: .string).value
        try await transport.waitForRequests()
        async let second = client.get("p", as: .string).value
        try await eventually("the second waits") { await client.gauges().coalesced == 1 }
        gate.settle(())
        #expect(try await [first, second] == ["x", "x"])
        #expect(notes.all.filter { $0.hasPrefix("unsent") } == ["unsent /p 200"])
        #expect(notes.all.filter { $0.hasPrefix("sends") }.count == 1)
    }
}
