import Dunlin
import DunlinTesting
import DunlinTracing
import InMemoryTracing
import Testing
import Tracing

@Suite("The context that is sent")
struct PropagationTests {
    @Test func `Each exchange sends its own context, and no baggage`() async throws {
        let traced = try Traced {
            $0.recordsRequests = true
        } configure: {
            $0.retry = .constant(attempts: 2, every: .milliseconds(1))
        }
        traced.transport.on(.get, "/v1/a").respond(503).thenRespond()
        try await traced.session.get("a")
        let (spans, sent) = (traced.spans, traced.sent)
        #expect(sent.count == 2 && spans.count == 3)
        for (span, fields) in zip(spans.dropFirst(), sent) {
            let context = span.spanContext
            #expect(fields["traceparent"] == "00-\(context.traceID)-\(context.spanID)-01")
            #expect(fields["tracestate"] == "memory=1")
            #expect(fields["baggage"] == nil)
        }
    }

    @Test func `Baggage is sent if asked for`() async throws {
        let traced = try Traced { $0.sendsBaggage = true }
        traced.transport.otherwise { _ in .respond() }
        var context = ServiceContext.topLevel
        context.user = "ada"
        _ = try await ServiceContext.withValue(context) { try await traced.session.get("a") }
        #expect(traced.sent[0]["baggage"] == "user=ada")
    }

    @Test func `Baggage of older kinds is no other`() async throws {
        let baggage = [("uberctx-user", "ada"), ("ot-baggage-user", "ada"), ("Correlation-Context", "user=ada")]
        let traced = try Traced(injecting: baggage + [("b3", "1-2")])
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.get("a")
        #expect(traced.sent[0]["b3"] == "1-2")
        #expect(baggage.allSatisfy { traced.sent[0][$0.0] == nil })
    }

    @Test(arguments: ["traceparent", "Traceparent", "tracestate", "b3", "X-Amzn-Trace-Id"])
    func `The request's own trace goes on, and ours is not mixed with it`(name: String) async throws {
        let traced = try Traced { $0.sendsBaggage = true }
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.get("a", options: .init(fields: [name: "own"]))
        let names = ["traceparent", "tracestate", "b3", "x-amzn-trace-id"]
        #expect(names.map { traced.sent[0].values(of: $0) } == names.map { $0 == name.lowercased() ? ["own"] : [] })
        #expect(traced.sent[0]["baggage"] == "user=none")
        #expect(traced.spans[0].texts["dunlin.fields.dropped"] == nil)
    }

    @Test(arguments: HTTPSession.SpanSettings.Propagation.allCases)
    func `Another origin gets no context unless asked for`(
        propagation: HTTPSession.SpanSettings.Propagation
    ) async throws {
        let traced = try Traced { $0.propagation = propagation }
        traced.transport.on(.get, "/v1/a").respond(302, fields: ["Location": "/v1/b"])
        traced.transport.on(.get, "/v1/b").respond(302, fields: ["Location": "https://other.test/c"])
        traced.transport.on(.get, "/c").respond(302, fields: ["Location": "https://api.test/v1/d"])
        traced.transport.on(.get, "/v1/d").respond()
        try await traced.session.get("a")
        let expected: [Bool] =
            switch propagation {
            case .nowhere: [false, false, false, false]
            case .requestedOrigin: [true, true, false, true]
            case .everywhere: [true, true, true, true]
            }
        #expect(traced.sent.map { $0.contains("traceparent") } == expected)
        #expect(traced.spans.map { $0.texts["http.request.resend_count"] } == [nil, "1", "2", "3"])
        #expect(traced.spans.map { $0.texts["server.address"] } == ["api.test", "api.test", "other.test", "api.test"])
    }

    @Test func `What is no valid field, or may not be added, is dropped and counted`() async throws {
        let long = String(repeating: "x", count: 10_000)
        let bad = [
            ("x-broken", "a\r\nInjected: 1"), ("x-nul", "a\0b"), ("bad name", "1"), ("", "1"), ("x-long", long),
            (long, "1"), ("Host", "evil.test"), ("Content-Length", "3"), ("Authorization", "Bearer x"),
            ("Cookie", "a=b"), ("Connection", "close"),
        ]
        let traced = try Traced(injecting: bad + [("traceparent", "00-1-1-01")])
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.get("a")
        #expect(traced.sent[0]["traceparent"] == "00-1-1-01")
        for (name, _) in bad where name != "Host" { #expect(!traced.sent[0].contains(name), "\(name)") }
        #expect(!traced.sent[0].contains("Injected"))
        #expect(traced.spans[0].texts["dunlin.fields.dropped"] == "\(bad.count)")
    }

    @Test func `There is room for a few fields only, and the last value of a name counts`() async throws {
        let many = (0..<200).map { ("x-\($0)", "1") }
        let traced = try Traced(injecting: [("Traceparent", "old"), ("traceparent", "new")] + many)
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.get("a")
        #expect(traced.sent[0].values(of: "traceparent") == ["new"])
        #expect(traced.sent[0].filter { $0.name.hasPrefix("x-") }.count == 15)
        #expect(traced.spans[0].texts["dunlin.fields.dropped"] == "185")
    }

    @Test func `Interceptors around the exchange see the context, and can sign it`() async throws {
        let traced = try Traced(configure: {
            $0.interceptors = [
                .exchange { request, next in
                    try await next(request.with { $0.head.fields["X-Signed"] = $0.head.fields["traceparent"] })
                }
            ]
        })
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.get("a")
        #expect(traced.sent[0]["x-signed"]?.hasPrefix("00-trace-") == true)
    }
}
