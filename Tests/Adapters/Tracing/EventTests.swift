import Dunlin
import DunlinTesting
import DunlinTracing
import InMemoryTracing
import Testing
import Tracing

@Suite("Events of spans")
struct EventTests {
    @Test func `Retries and redirects are events of the request, or of the exchange that follows`() async throws {
        for recordsRequests in [true, false] {
            let traced = try Traced {
                $0.recordsRequests = recordsRequests
            } configure: {
                $0.retry = .constant(attempts: 3, every: .milliseconds(1))
            }
            traced.transport.on(.get, "/v1/a").respond(503).thenFail(.timedOut(.connect))
                .thenRespond(302, fields: ["Location": "/v1/b"])
            traced.transport.on(.get, "/v1/b").respond()
            try await traced.session.get("a")
            let spans = traced.spans
            let names = ["dunlin.retrying", "dunlin.retrying", "dunlin.redirected"]
            #expect(spans.count == (recordsRequests ? 5 : 4))
            if recordsRequests {
                #expect(spans[0].eventNames == names)
                #expect(spans[0].texts["dunlin.exchanges"] == "4")
                let attributes = spans[0].events.map(\.attributes.texts)
                #expect(attributes[0]["http.response.status_code"] == "503")
                #expect(attributes[0]["dunlin.wait_ms"].flatMap(Double.init) ?? 0 > 0)
                #expect(attributes[1]["error.type"] == "timedOut")
                #expect(attributes[1]["dunlin.error.phase"] == "connect")
                #expect(attributes[2]["http.response.status_code"] == "302")
            } else {
                #expect(spans.map { $0.eventNames.filter(names.contains) } == [[]] + names.map { [$0] })
            }
            let exchanges = spans.suffix(4)
            #expect(exchanges.map { $0.texts["dunlin.attempt"] } == [nil, "2", "3", "3"])
            #expect(exchanges.map { $0.status?.code } == [.error, .error, nil, nil])
        }
    }

    @Test func `An answer from the cache is an event of the request, which has no exchange`() async throws {
        let traced = try Traced {
            $0.recordsRequests = true
        } configure: {
            $0.cache = HTTPSession.Cache()
        }
        traced.transport.on(.get, "/v1/a").respond(fields: ["Cache-Control": "max-age=60"], body: "x")
        for _ in 0..<2 { _ = try await traced.session.get("a", as: .string) }
        #expect(traced.spans.map(\.kind) == [.internal, .client, .internal])
        #expect(traced.spans[2].eventNames == ["dunlin.served_from_cache"])
        #expect(traced.spans[2].events[0].attributes.texts["dunlin.cache.state"] == "fresh")
        #expect(traced.spans[2].texts["dunlin.exchanges"] == "0")
    }

    @Test func `A revalidation in the background links to what led to it, and is no child of it`() async throws {
        for recordsRequests in [true, false] {
            let traced = try Traced {
                $0.recordsRequests = recordsRequests
            } configure: {
                $0.cache = HTTPSession.Cache()
            }
            traced.transport.on(.get, "/v1/a")
                .respond(fields: ["Cache-Control": "max-age=0, stale-while-revalidate=60"], body: "x").always()
            _ = try await traced.session.get("a", as: .string)
            var asking: ServiceContext?
            try await traced.tracer.withSpan("above") { above in
                asking = above.context
                _ = try await traced.session.get("a", as: .string)
            }
            try await traced.transport.waitForRequests(2)
            await traced.session.shutdown()
            let spans = traced.spans
            let above = try #require(asking?.inMemorySpanContext)
            let linked = spans.filter { !$0.links.isEmpty }
            #expect(linked.count == 1)
            #expect(linked[0].kind == (recordsRequests ? .internal : .client))
            #expect(linked[0].links.map(\.context.inMemorySpanContext?.spanID) == [above.spanID])
            #expect(linked[0].parentSpanID == nil && linked[0].spanContext.traceID != above.traceID)
            #expect(traced.sent[1]["traceparent"]?.contains(linked[0].spanContext.traceID) == true)
        }
    }

    @Test func `A request that waits for an identical one has no exchange`() async throws {
        let (joined, released) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let traced = try Traced {
            $0.recordsRequests = true
        } configure: {
            $0.coalescing.isOn = true
            $0.observers.append(Joins(joined.continuation))
        }
        traced.transport.on(.get, "/v1/a").reply(
            .stream { index in
                for await _ in released.stream { break }
                return index == 0 ? "x" : nil
            })
        async let first = traced.session.get("a", as: .string)
        try await traced.transport.waitForRequests(1)
        async let second = traced.session.get("a", as: .string)
        for await _ in joined.stream { break }
        released.continuation.finish()
        _ = try await (first, second)
        let spans = traced.spans
        #expect(spans.map(\.kind) == [.internal, .client, .internal])
        #expect(spans.last?.eventNames == ["dunlin.joined"])
    }

    /// Says when a request waits for an identical one.
    private struct Joins: HTTPSession.Observer, HTTPSession.RequestObserver {
        let joined: AsyncStream<Void>.Continuation

        init(_ joined: AsyncStream<Void>.Continuation) { self.joined = joined }

        func began(_ request: HTTPSession.TaskSnapshot) -> (any HTTPSession.RequestObserver)? { self }

        func noted(_ step: HTTPSession.RequestStep) {
            if case .joined = step { joined.yield() }
        }
    }

    @Test func `A handle that is suspended often has a bounded number of events`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        traced.transport.otherwise { _ in .respond() }
        let handle = try traced.session.task("a")
        for _ in 0..<500 {
            handle.resume()
            handle.suspend()
        }
        handle.resume()
        _ = try await handle.value
        #expect(traced.spans[0].events.count <= 128)
    }
}
