import Dunlin
import DunlinTesting
import Testing

/// Trailers are fields, and other origins may not see all of them.
@Suite(.timeLimit(.minutes(10)))
struct `Trailers and other origins` {
    private static let trailers: Fields = ["X-Api-Key": "secret", "X-Tenant": "secret", "X-Sum": "7"]

    /// `announced` is whether the head says which trailers come.
    private static func body(announced: Bool) -> RequestBody {
        announced
            ? .string("hello").withTrailers(trailers) : .string("hello").withTrailers("X-Sum") { trailers }
    }

    private static func session(
        _ server: LoopbackServer, _ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        try HTTPSession(baseURL: server.baseURL) {
            $0.secretFields = ["X-Tenant"]
            try change(&$0)
        }
    }

    @Test(arguments: [307, 308] as [HTTP.Status], [true, false])
    func `secret trailers stay with their origin, and are gone for good`(
        status: HTTP.Status, announced: Bool
    ) async throws {
        let (first, other) = (try LoopbackServer(), try LoopbackServer())
        let (there, back) = (other.baseURL + "/there", first.baseURL + "/back")
        first.respond { request in
            switch request.target {
            case "/from": .response(status, fields: ["Location": "/again"])
            case "/again": .response(status, fields: ["Location": there])
            default: .response(body: "arrived")
            }
        }
        other.respond { _ in .response(status, fields: ["Location": back]) }
        let session = try Self.session(first)
        let answer = try await session.post("from", body: Self.body(announced: announced), as: .string)
        #expect(answer.value == "arrived")
        let sent = [first.requests[0], first.requests[1], other.requests[0], first.requests[2]]
        for (index, request) in sent.enumerated() {
            #expect(request.body == "hello")
            #expect(request.trailers == (index < 2 ? Self.trailers : ["X-Sum": "7"]), "at \(index)")
            let names = announced && index < 2 ? "X-Api-Key, X-Tenant, X-Sum" : "X-Sum"
            #expect(request.fields["Trailer"] == names, "at \(index)")
        }
    }

    @Test func `a redirect hook may send trailers of its own to another origin`() async throws {
        let (first, other) = (try LoopbackServer(), try LoopbackServer())
        let there = other.baseURL + "/there"
        first.respond { _ in .response(307, fields: ["Location": there]) }
        other.respond { _ in .response(body: "arrived") }
        let session = try Self.session(first)
        var options = HTTPSession.Options()
        options.hooks.redirect = { proposal in
            var next = proposal.next
            next.body = next.body.withTrailers(["X-Api-Key": "its own"])
            return .modify(next)
        }
        _ = try await session.post("from", body: Self.body(announced: true), options: options, as: .string)
        #expect(other.requests.first?.trailers == ["X-Api-Key": "its own"])
        #expect(other.requests.first?.fields["Trailer"] == "X-Api-Key")
    }

    @Test func `secret trailers of a body that is given anew stay with their origin too`() async throws {
        let (first, other) = (try LoopbackServer(), try LoopbackServer())
        let (there, back) = (other.baseURL + "/there", first.baseURL + "/back")
        first.respond { request in
            switch request.target {
            case "/from": .response(307, fields: ["Location": "/again"])
            case "/again": .response(307, fields: ["Location": there])
            default: .response(body: "arrived")
            }
        }
        other.respond { request in
            .response(307, fields: ["Location": request.target == "/there" ? "/on" : back])
        }
        let session = try Self.session(first) {
            $0.hooks.replacementBody = { _ in
                RequestBody.stream(AsyncStream.bytes("hello"), length: 5).withTrailers(Self.trailers)
            }
        }
        let body = RequestBody.stream(AsyncStream.bytes("hello"), length: 5).withTrailers(Self.trailers)
        #expect(try await session.post("from", body: body, as: .string).value == "arrived")
        let sent = [first.requests[0], first.requests[1], other.requests[0], other.requests[1], first.requests[2]]
        for (index, request) in sent.enumerated() {
            #expect(request.body == "hello")
            #expect(request.trailers == (index < 2 ? Self.trailers : ["X-Sum": "7"]), "at \(index)")
            #expect(request.fields["Trailer"] == (index < 2 ? "X-Api-Key, X-Tenant, X-Sum" : "X-Sum"), "at \(index)")
        }
    }

    @Test func `an interceptor takes no secret trailers to another origin`() async throws {
        let (first, other) = (try LoopbackServer(), try LoopbackServer())
        other.respond { _ in .response(body: "arrived") }
        let origin = HTTP.Origin(scheme: .http, host: "127.0.0.1", port: other.port)
        let session = try Self.session(first) {
            $0.interceptors = [
                .call { request, next in try await next(request) { $0.head.origin = origin } }
            ]
        }
        _ = try await session.post("from", body: Self.body(announced: true), as: .string)
        #expect(other.requests.first?.trailers == ["X-Sum": "7"])
        #expect(other.requests.first?.fields["Trailer"] == "X-Sum")
    }
}

extension AsyncStream<Bytes> {
    /// One piece, once.
    fileprivate static func bytes(_ piece: Bytes) -> Self {
        Self {
            $0.yield(piece)
            $0.finish()
        }
    }
}
