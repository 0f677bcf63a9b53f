import Dunlin
import DunlinTesting
import InMemoryTracing
import RecipeTracing
import Testing
import Tracing

@testable import Gateway

extension Recipes {
    @Suite struct `A handler's calls` {
        private func answer(in gateway: RunningGateway) {
            gateway.backend.respond { _ in
                .response(fields: ["Content-Type": "application/json"], body: #"{"id":7,"name":"Ada"}"#)
            }
        }

        @Test func `send the id that the request came with, and are logged with it`() async throws {
            try await RunningGateway.whileRunning { gateway in
                answer(in: gateway)
                let user = try await gateway.caller.get(
                    "users/7", fields: ["X-Request-ID": "order-4711"], as: User.self)
                #expect(user.name == "Ada")
                #expect(try await gateway.backend.nextRequest().fields["X-Request-ID"] == "order-4711")
                let line = try await gateway.line(of: "/users/7")
                #expect(line.text("dunlin.request.id") == "order-4711")
                #expect(line.text("hb.request.id") != nil)
            }
        }

        @Test(arguments: [nil, "a b", "x\"y", String(repeating: "i", count: 65)])
        func `send the id that the server logs, if the request has no valid one`(id: String?) async throws {
            try await RunningGateway.whileRunning { gateway in
                answer(in: gateway)
                try await gateway.caller.get("users/8", fields: id.map { ["X-Request-ID": $0] } ?? [:])
                let sent = try await gateway.backend.nextRequest().fields["X-Request-ID"]
                let line = try await gateway.line(of: "/users/8")
                #expect(sent == line.text("hb.request.id"))
                #expect(sent == line.text("dunlin.request.id"))
                #expect(sent != nil)
            }
        }

        @Test(arguments: ["users/9", "files/9"])
        func `continue the trace that the request came with`(path: String) async throws {
            let (trace, parent) = (W3CTracer.hex(bytes: 16), W3CTracer.hex(bytes: 8))
            try await RunningGateway.whileRunning { gateway in
                answer(in: gateway)
                try await gateway.caller.get(
                    url: path, fields: ["traceparent": "00-\(trace)-\(parent)-01"])
                let sent = try #require(try await gateway.backend.nextRequest().fields["traceparent"])
                try await eventually("both spans have ended") { W3CTracer.shared.spans(of: trace).count == 2 }
                let spans = W3CTracer.shared.spans(of: trace)
                let server = try #require(spans.first { $0.kind == .server })
                let client = try #require(spans.first { $0.kind == .client })
                #expect(server.spanContext.parentSpanID == parent)
                #expect(client.spanContext.parentSpanID == server.spanContext.spanID)
                #expect(sent == "00-\(trace)-\(client.spanContext.spanID)-01")
            }
        }

        @Test func `are answered with 502 if the service behind fails`() async throws {
            try await RunningGateway.whileRunning { gateway in
                gateway.backend.route(.get, "/users/1", .response(500))
                gateway.backend.route(.get, "/files/1", [.close])
                for path in ["users/1", "files/1"] {
                    let error = await #expect(throws: NetworkError.self) { try await gateway.caller.get(url: path) }
                    #expect(error?.response?.status.code == 502)
                }
            }
        }
    }
}
