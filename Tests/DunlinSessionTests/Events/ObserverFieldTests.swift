import Dunlin
import DunlinTesting
import Mocking
import Synchronization
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Fields that observers add` {
    private static let trace: Fields = ["Traceparent": "00-1", "Tracestate": "a=b"]

    private func mocked(
        _ observers: [RecordingObserver], _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> Mocked {
        try Mocked { configuration in
            configuration.observers = observers
            change(&configuration)
        }
    }

    @Test func `exchange interceptors see them, and servers get them`() async throws {
        let seen = Mutex<String?>(nil)
        let mocked = try mocked([RecordingObserver(adding: Self.trace)]) {
            $0.interceptors = [
                .exchange { request, next in
                    seen.withLock { $0 = request.head.fields["traceparent"] }
                    return try await next(request)
                }
            ]
        }
        mocked.transport.otherwise { _ in .respond() }
        try await mocked.session.get("a")
        #expect(seen.withLock { $0 } == "00-1")
        #expect(mocked.transport.requests[0].fields["tracestate"] == "a=b")
    }

    @Test func `they are for one exchange only`() async throws {
        let observer = RecordingObserver(adding: Self.trace)
        let mocked = try mocked([observer])
        mocked.transport.on(.get, "/a").respond(302, fields: ["Location": "/b"])
        mocked.transport.on(.get, "/b").respond()
        try await mocked.session.get("a")
        #expect(observer.requests[0].exchanges.map { $0.begun.head.fields.contains("traceparent") } == [false, false])
        #expect(mocked.transport.requests.map { $0.fields.values(of: "traceparent").count } == [1, 1])
    }

    @Test func `a field that the caller set wins, and the first observer wins over the next`() async throws {
        let (first, second) = (RecordingObserver(adding: Self.trace), RecordingObserver(adding: ["Tracestate": "z"]))
        let mocked = try mocked([first, second])
        mocked.transport.otherwise { _ in .respond() }
        try await mocked.session.get("a", fields: ["traceparent": "mine"])
        let fields = mocked.transport.requests[0].fields
        #expect(fields.values(of: "traceparent") == ["mine"])
        #expect(fields.values(of: "tracestate") == ["a=b"])
        #expect(first.requests[0].exchanges[0].ends[0].droppedFields == 1)
    }

    @Test func `fields that frame, identify or break a request are dropped and counted`() async throws {
        var bad: Fields = [
            "Host": "x", "Content-Length": "3", "Connection": "close", "Transfer-Encoding": "chunked",
            "Authorization": "x", "Cookie": "a=b", "X-Api-Key": "k", "Range": "bytes=0-1", "If-None-Match": "*",
            "Accept-Encoding": "x", "bad name": "x", "Proxy-Authorization": "x",
        ]
        bad.append(name: "X-Broken", value: "a\r\nb: c")
        bad.append(name: "X-Hidden", value: "secret", sensitive: true)
        let observer = RecordingObserver(adding: bad)
        let mocked = try mocked([observer]) { $0.fields = Fields() }
        mocked.transport.otherwise { _ in .respond() }
        try await mocked.session.get("a")
        let sent = mocked.transport.requests[0].fields
        for (name, _) in bad where name != "Host" && name != "Content-Length" {
            #expect(!sent.contains(name), "\(name)")
        }
        #expect(observer.requests[0].exchanges[0].ends[0].droppedFields == bad.count)
    }

    @Test func `they identify no stored response, and a response that varies by one is served to nobody`() async throws
    {
        let observer = RecordingObserver(adding: Self.trace)
        let mocked = try mocked([observer]) { $0.cache = HTTPSession.Cache() }
        mocked.transport.on(.get, "/plain").respond(fields: ["Cache-Control": "max-age=60"], body: "p").always()
        mocked.transport.on(.get, "/vary")
            .respond(fields: ["Cache-Control": "max-age=60", "Vary": "Traceparent"], body: "v").always()
        for _ in 0..<2 { try await mocked.session.get("plain") }
        for _ in 0..<2 { try await mocked.session.get("vary") }
        #expect(mocked.transport.requests.map(\.target) == ["/plain", "/vary", "/vary"])
        #expect(observer.requests[1].stepNames == ["servedFromCache"] && observer.requests[1].exchanges.isEmpty)
        #expect(observer.isBalanced)
    }

    @Test func `a response that varies by one takes the place of no other, unless a hook says that it does not`()
        async throws
    {
        let varies = Mutex("Accept-Language")
        let mocked = try mocked([RecordingObserver(adding: Self.trace)]) { $0.cache = HTTPSession.Cache() }
        mocked.transport.otherwise { _ in
            .respond(fields: ["Cache-Control": "max-age=60", "Vary": varies.withLock { $0 }], body: "v")
        }
        try await mocked.session.get("a", fields: ["Accept-Language": "de"])
        varies.withLock { $0 = "Accept-Language, Traceparent" }
        for number in 0..<20 { try await mocked.session.get("a", fields: ["Accept-Language": "x-\(number)"]) }
        try await mocked.session.get("a", fields: ["Accept-Language": "de"])
        #expect(mocked.transport.requests.count == 21)
        var options = HTTPSession.Options()
        options.hooks.storing = { _, head in
            .storeWith(head.fields.overlaid(with: ["Vary": "Accept-Language"]))
        }
        for _ in 0..<2 { try await mocked.session.get("a", fields: ["Accept-Language": "fr"], options: options) }
        #expect(mocked.transport.requests.count == 22)
    }

    @Test func `requests that are sent as one differ by none, and only one has an exchange`() async throws {
        let observer = RecordingObserver(adding: Self.trace)
        let mocked = try mocked([observer]) { $0.coalescing.isOn = true }
        let gate = Settlement<Void>()
        mocked.transport.otherwise { _ in
            await gate.value
            return .respond(body: "one")
        }
        async let first = mocked.session.get("a", as: .string).value
        try await mocked.transport.waitForRequests(1)
        async let second = mocked.session.get("a", as: .string).value
        while observer.requests.count < 2 || observer.requests[1].steps.isEmpty { await Task.yield() }
        gate.settle(())
        #expect(try await [first, second] == ["one", "one"])
        #expect(observer.requests.map(\.exchanges.count) == [1, 0])
        #expect(observer.requests[1].stepNames == ["joined"])
        #expect(observer.isBalanced)
    }

    @Test func `a revalidation in the background is a request of its own, in the task that led to it`() async throws {
        let observer = RecordingObserver(adding: Self.trace)
        let mocked = try mocked([observer]) { $0.cache = HTTPSession.Cache() }
        mocked.transport.on(.get, "/a")
            .respond(fields: ["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": "\"1\""], body: "a")
            .always()
        try await mocked.session.get("a")
        try await RecordingObserver.$mark.withValue("second") { _ = try await mocked.session.get("a") }
        await mocked.session.shutdown()
        #expect(observer.isBalanced)
        #expect(observer.requests.map(\.begun.isRevalidation) == [false, false, true])
        #expect(observer.requests[2].mark == "second" && observer.requests[2].exchanges[0].begun.isRevalidation)
    }
}
