import Dunlin
import DunlinTesting
import DunlinTracing
import InMemoryTracing
import Testing
import Tracing

@Suite("Spans")
struct SpanTests {
    @Test func `An exchange is a client span with the attributes of the convention`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(body: "hello") }
        let tracer = InMemoryTracer()
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.recordSpans(with: tracer)
        let client = try HTTPSession(configuration)
        _ = try await client.get("users/\(42, name: "id")?page=\(2)", as: .string)
        await client.shutdown()
        let span = try #require(tracer.finishedSpans.first)
        #expect(tracer.finishedSpans.count == 1 && tracer.activeSpans.isEmpty)
        #expect(span.operationName == "GET /users/{id}")
        #expect(span.kind == .client)
        #expect(span.status == nil && span.errors.isEmpty)
        var texts = span.texts
        #expect(texts.removeValue(forKey: "dunlin.task").flatMap(Int.init) != nil)
        #expect(
            texts == [
                "http.request.method": "GET", "url.full": "\(server.baseURL)/users/42?page=2",
                "server.address": "127.0.0.1", "server.port": "\(server.port)", "http.response.status_code": "200",
                "network.peer.address": "127.0.0.1", "network.peer.port": "\(server.port)",
                "network.protocol.version": "1.1", "dunlin.connection.reused": "false",
            ])
        let phases = span.events.filter { $0.name.hasPrefix("dunlin.phase.") }
        #expect(phases.map(\.name).contains("dunlin.phase.connect"))
        #expect(phases.map(\.name).contains("dunlin.phase.firstByte"))
        let times =
            [span.startInstant.nanosecondsSinceEpoch] + phases.map(\.nanosecondsSinceEpoch)
            + [span.endInstant.nanosecondsSinceEpoch]
        #expect(times == times.sorted())
        #expect(phases.allSatisfy { $0.attributes.texts["dunlin.duration_ms"].flatMap(Double.init) ?? -1 >= 0 })
    }

    @Test func `A span is a child of the context in which the request is made`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        traced.transport.otherwise { _ in .respond(body: "x") }
        try await traced.tracer.withSpan("above") { _ in
            _ = try await traced.session.get("a", as: .string)
            let handle = try traced.session.task("b", as: .string)
            // Not where the handle is resumed.
            ServiceContext.withValue(.topLevel) { _ = handle.resume() }
            _ = try await handle.value
            try await traced.session.withResponse(from: "c") { for try await _ in $0.body {} }
        }
        let spans = traced.spans
        #expect(spans.map(\.kind) == [.internal, .internal, .client, .internal, .client, .internal, .client])
        let above = spans[0].spanContext.spanID
        for index in [1, 3, 5] {
            #expect(spans[index].parentSpanID == above)
            #expect(spans[index + 1].parentSpanID == spans[index].spanContext.spanID)
        }
        #expect(Set(spans.map(\.spanContext.traceID)).count == 1)
    }

    @Test func `A streamed exchange ends with its body`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        traced.transport.otherwise { _ in .stream(["a", "b"]) }
        try await traced.session.withResponse(from: "read") { response in
            #expect(traced.spans.isEmpty)
            for try await _ in response.body {}
        }
        try await traced.session.withResponse(from: "left") { _ in }
        #expect(traced.spans.map(\.operationName) == ["GET /v1/read", "GET /v1/read", "GET /v1/left", "GET /v1/left"])
        #expect(traced.spans.map { $0.texts["dunlin.body"] } == [nil, nil, nil, "left"])
        #expect(traced.spans.allSatisfy { $0.status == nil })
        #expect(traced.tracer.memory.activeSpans.isEmpty)
    }

    @Test func `A response that a program keeps without reading it ends its span with the head`() async throws {
        let traced = try Traced()
        traced.transport.otherwise { _ in .stream(["a", "b"]).delayed(.milliseconds(50)) }
        let gotHead = try await traced.session.withResponse(from: "kept") { _ in
            let now = DefaultTracerClock.now
            try await Task.sleep(for: .milliseconds(500))
            return now
        }
        let span = try #require(traced.spans.first)
        let ended = span.endInstant.nanosecondsSinceEpoch
        #expect(ended >= span.startInstant.nanosecondsSinceEpoch + 50_000_000)
        // What a busy machine takes is before the head is shown. The rest is for the two clocks that are compared.
        #expect(ended < gotHead.nanosecondsSinceEpoch + 100_000_000)
    }

    @Test func `A body that breaks off is an error`() async throws {
        let traced = try Traced()
        traced.transport.otherwise { _ in .stream(["a"], failing: NetworkError(.connectionClosed, "gone")) }
        _ = try? await traced.session.get("a", as: .string)
        #expect(traced.spans[0].status?.code == .error)
        #expect(traced.spans[0].texts["error.type"] == "connectionClosed")
        #expect(traced.spans[0].texts["http.response.status_code"] == "200")
    }

    @Test(arguments: [(200, nil), (304, nil), (404, "404"), (500, "500"), (599, "599")] as [(Int, String?)])
    func `A status from 400 is an error, and says which`(status: Int, type: String?) async throws {
        let traced = try Traced()
        traced.transport.otherwise { _ in .respond(HTTP.Status(status)) }
        _ = try? await traced.session.get("a")
        let span = traced.spans[0]
        #expect(span.status == type.map { _ in SpanStatus(code: .error) })
        #expect(span.texts["error.type"] == type)
        #expect(span.texts["http.response.status_code"] == "\(status)")
    }

    @Test func `What the program takes for a success is one for the span of the request`() async throws {
        let traced = try Traced {
            $0.recordsRequests = true
        } configure: {
            $0.acceptedStatuses = [404]
        }
        traced.transport.otherwise { _ in .respond(404) }
        try await traced.session.get("a")
        #expect(traced.spans.map { $0.status?.code } == [nil, .error])
    }

    @Test func `A failure is named by its code, and a request's by what its caller gets`() async throws {
        struct Refusal: Error {}
        let traced = try Traced { $0.recordsRequests = true }
        traced.transport.on(.get, "/v1/a").fail(.timedOut(.connect))
        traced.transport.on(.get, "/v1/b").fail(Refusal())
        traced.transport.on(.get, "/v1/c").respond(body: "no JSON")
        for target in ["a", "b"] { _ = try? await traced.session.get(HTTP.Target(target)) }
        _ = try? await traced.session.get("c", as: .json([Int].self))
        let spans = traced.spans
        #expect(spans[1].texts["error.type"] == "timedOut" && spans[1].texts["dunlin.error.phase"] == "connect")
        #expect(spans[1].status == SpanStatus(code: .error, message: "timedOut in connect"))
        #expect(spans[0].texts["error.type"] == "timedOut")
        #expect(spans[3].status?.code == .error && spans[3].texts["error.type"] != nil)
        #expect(spans[5].status == nil)
        #expect(spans[4].status?.code == .error)
        #expect(["decodingFailed", "unreadableContent"].contains(spans[4].texts["error.type"]))
    }

    @Test func `What is cancelled is an error of that name`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        traced.transport.otherwise { _ in .never }
        let task = Task { try await traced.session.get("a") }
        try await traced.transport.waitForRequests(1)
        task.cancel()
        _ = await task.result
        let handle = try traced.session.task("b")
        handle.resume()
        try await traced.transport.waitForRequests(2)
        handle.cancel()
        _ = await handle.result
        #expect(traced.spans.count == 4)
        for span in traced.spans {
            #expect(span.status?.code == .error && span.texts["error.type"] == "cancelled")
            #expect(span.eventNames.last == "dunlin.cancelled")
        }
    }

    @Test func `A handle that is never resumed has no span`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        let handle = try traced.session.task("a")
        handle.cancel()
        _ = await handle.result
        #expect(traced.spans.isEmpty && traced.tracer.memory.activeSpans.isEmpty)
    }

    @Test func `The span of a handle begins when it is resumed`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        traced.transport.otherwise { _ in .respond() }
        let handle = try traced.session.task("a")
        let resumed = DefaultTracerClock.now
        handle.resume()
        _ = try await handle.value
        #expect(traced.spans[0].startInstant.nanosecondsSinceEpoch >= resumed.nanosecondsSinceEpoch)
        #expect(traced.spans[0].eventNames == ["dunlin.resumed"])
    }

    @Test func `Methods that are not known have no name of their own`() async throws {
        let traced = try Traced()
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.request("pots/\(1)", method: "BREW")
        try await traced.session.request("pots", method: "get")
        #expect(traced.spans.map(\.operationName) == ["HTTP /v1/pots/{}", "HTTP /v1/pots"])
        #expect(traced.spans.map { $0.texts["http.request.method"] } == ["_OTHER", "_OTHER"])
        #expect(traced.spans.map { $0.texts["http.request.method_original"] } == ["BREW", "get"])
        let known = try Traced { $0.knownMethods.insert("BREW") }
        known.transport.otherwise { _ in .respond() }
        try await known.session.request("pots", method: "BREW")
        #expect(known.spans[0].operationName == "BREW /v1/pots")
        #expect(known.spans[0].texts["http.request.method_original"] == nil)
    }

    @Test func `A target made from text, and one that a redirect leads to, is in no name`() async throws {
        let (traced, text) = (try Traced(), "a/1")
        traced.transport.on(.get, "/v1/a/1").respond().always()
        traced.transport.on(.get, "/v1/moved").respond(302, fields: ["Location": "/v1/a/1"])
        try await traced.session.get(HTTP.Target(text))
        try await traced.session.get("moved")
        try await traced.session.get("https://api.test/v1/a/\(1, name: "id")?q=1")
        #expect(traced.spans.map(\.operationName) == ["GET", "GET /v1/moved", "GET", "GET /v1/a/{id}"])
    }

    @Test func `What is in development is recorded only if asked for`() async throws {
        let traced = try Traced { $0.includesDevelopment = true }
        traced.transport.otherwise { _ in .respond(body: "12345") }
        try await traced.session.get("a/\(1)")
        #expect(traced.spans[0].texts["url.template"] == "/v1/a/{}")
        #expect(Set(traced.spans[0].texts.keys).isSuperset(of: ["http.request.size", "http.response.body.size"]))
        #expect(traced.spans[0].texts["http.request.body.size"] == nil)
        try await traced.session.post("a", body: .bytes("1234567"))
        #expect(traced.spans[1].texts["http.request.body.size"] == "7")
    }

    @Test func `What is to be asked for is recorded only then, and nothing that is secret`() async throws {
        let traced = try Traced {
            $0.includesOptional = true
            $0.requestFields = ["X-Tenant", "Authorization", "X-Absent", "x-key", "X-Link", "X-Ticket"]
            $0.responseFields = ["etag", "Set-Cookie"]
        } configure: {
            for name in ["X-Key", "ticket"] { $0.secretFields.insert(name) }
            $0.fields["User-Agent"] = "shop/1"
        }
        traced.transport.otherwise { _ in
            .respond(fields: ["ETag": "\"a\"", "ETag": "\"b\"", "Set-Cookie": "sid=s3cr3t"])
        }
        try await traced.session.get(
            "a",
            fields: [
                "X-Tenant": "7", "Authorization": "Bearer s3cr3t", "X-Key": "s3cr3t",
                "X-Link": "https://ada:s3cr3t@a.test/", "X-Ticket": "https://a.test/?ticket=s3cr3t",
            ])
        let (span, texts) = (traced.spans[0], traced.spans[0].texts)
        #expect(texts["url.scheme"] == "https" && texts["user_agent.original"] == "shop/1")
        #expect(span.everything.contains("http.request.header.x-tenant"))
        #expect(span.everything.contains("http.response.header.etag"))
        let hidden = [
            "request.header.authorization", "request.header.x-key", "x-absent", "x-link", "x-ticket", "set-cookie",
        ]
        for name in hidden {
            #expect(!span.everything.contains(name), "\(name)")
        }
        #expect(!span.everything.contains("s3cr3t"))
    }

    @Test func `A redirect that is not followed any further is its exchange's error`() async throws {
        let traced = try Traced(configure: { $0.redirects = .follow(limit: 1) })
        traced.transport.on(.get, "/v1/a").respond(302, fields: ["Location": "/v1/b"], body: "one").always()
        traced.transport.on(.get, "/v1/b").respond(302, fields: ["Location": "/v1/c"], body: "two").always()
        traced.transport.on(.get, "/v1/d").respond(302, fields: ["Location": "http://api.test/"], body: "three")
        traced.transport.on(.get, "/v1/e").respond(300, body: "no JSON")
        _ = try? await traced.session.get("a")
        _ = try? await traced.session.get("d")
        _ = try? await traced.session.get("e", options: .init(validatesResponse: false), as: .json([Int].self))
        let types = traced.spans.map { $0.texts["error.type"] }
        #expect(types == [nil, "tooManyRedirects", "insecureRedirect", nil])
        #expect(traced.spans.map { $0.status?.code == .error } == [false, true, true, false])
        #expect(traced.spans.map { $0.texts["http.response.status_code"] } == ["302", "302", "302", "300"])
        #expect(traced.spans.allSatisfy { $0.texts["dunlin.body"] == nil })
    }

    @Test func `A span has the name of the API's operation, except where a redirect has led`() async throws {
        let traced = try Traced { $0.includesDevelopment = true }
        traced.transport.on(.get, "/v1/users").respond(302, fields: ["Location": "/v1/people"])
        traced.transport.otherwise { _ in .respond() }
        let target = "users"
        try await traced.session.get(HTTP.Target(target), options: .init(operation: "listUsers"))
        #expect(traced.spans.map(\.operationName) == ["GET listUsers", "GET"])
        #expect(traced.spans.allSatisfy { $0.texts["url.template"] == nil })
    }

    /// One test, since a process has one system, which can be set once.
    @Test func `Without a tracer nothing is watched, and with one every instrument of the system injects`() async throws
    {
        struct Injecting: Instrument {
            func inject<Carrier, Inject: Injector>(
                _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
            ) where Carrier == Inject.Carrier {
                injector.inject("1", forKey: "x-other", into: &carrier)
            }

            func extract<Carrier, Extract: Extractor>(
                _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
            ) where Carrier == Extract.Carrier {}
        }
        let (transport, tracer) = (MockTransport(), W3CTracer())
        transport.otherwise { _ in .respond() }
        var configuration = HTTPSession.Configuration(transport: transport)
        configuration.recordSpans(with: InMemoryTracer())
        configuration.recordSpans(with: NoOpTracer())
        try await HTTPSession(configuration).get("http://a.test/")
        configuration.recordSpans()
        #expect(configuration.observers.count == 1)
        let session = try HTTPSession(configuration)
        try await session.get("http://a.test/")
        #expect(tracer.spans.isEmpty)
        InstrumentationSystem.bootstrap(MultiplexInstrument([Injecting(), tracer]))
        try await session.get("http://a.test/")
        #expect(tracer.spans.count == 1)
        #expect(transport.requests.map { $0.fields.contains("traceparent") } == [false, false, true])
        #expect(transport.requests.map { $0.fields.contains("x-other") } == [false, false, true])
    }
}
