import Dunlin
import DunlinTesting
import HTTPTypes
import Testing

@testable import Gateway

extension Recipes {
    @Suite struct `The proxy` {
        @Test func `drops the fields of one connection both ways, also those that Connection names`() async throws {
            try await RunningGateway.whileRunning { gateway in
                gateway.backend.enqueue(
                    .response(
                        fields: [
                            "Connection": "X-Back, x-also", "X-Back": "1", "X-Also": "1", "Keep-Alive": "timeout=5",
                            "Proxy-Authenticate": "Basic", "Proxy-Authentication-Info": "x", "Trailer": "X-Sum",
                            "X-Kept": "2", "Set-Cookie": "a=1", "Set-Cookie": "b=2",
                        ], body: "the end"))
                let text = try await RawClient.exchange(
                    """
                    GET /files/a?b=c HTTP/1.1\r
                    Host: gateway.test\r
                    Connection: X-Hop ,x-Other\r
                    Connection: keep-alive\r
                    X-Hop: 1\r
                    X-OTHER: 1\r
                    Keep-Alive: timeout=5\r
                    Proxy-Authorization: Basic eA==\r
                    Proxy-Connection: keep-alive\r
                    TE: trailers\r
                    Trailer: X-Sum\r
                    Upgrade: h2c\r
                    X-Kept: 1\r
                    Cookie: a=1\r
                    \r

                    """, port: gateway.port, until: "the end")
                let sent = try await gateway.backend.nextRequest()
                #expect(sent.target == "/files/a?b=c")
                for name in Self.dropped + ["X-Hop", "X-Other"] { #expect(!sent.fields.contains(name), "\(name)") }
                #expect(sent.fields["X-Kept"] == "1" && sent.fields["Cookie"] == "a=1")
                #expect(sent.fields["Via"] == "1.1 gateway")
                #expect(sent.fields["Host"] == "127.0.0.1:\(gateway.backend.port)")
                let lines = text.lowercased().split(separator: "\r\n").map { String($0.prefix { $0 != ":" }) }
                for name in Self.dropped + ["X-Back", "X-Also"] {
                    #expect(!lines.contains(name.lowercased()), "\(name)")
                }
                #expect(text.contains("X-Kept: 2\r\n"))
                #expect(text.contains("Set-Cookie: a=1\r\n") && text.contains("Set-Cookie: b=2\r\n"))
            }
        }

        static let dropped = [
            "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
            "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        ]

        @Test(arguments: [200, 204, 206, 302, 304, 404, 500, 503])
        func `passes any status on, and follows no redirect`(status: Int) async throws {
            try await RunningGateway.whileRunning { gateway in
                gateway.backend.enqueue(
                    .response(HTTP.Status(status), fields: ["Location": "/elsewhere", "ETag": "\"v\""]))
                let answer = try await gateway.caller.stream("files/s", options: .init(redirects: .none))
                #expect(answer.status.code == status)
                #expect(answer.fields["Location"] == "/elsewhere" && answer.fields["ETag"] == "\"v\"")
                #expect(gateway.backend.requests.count == 1)
            }
        }

        @Test func `leaves content codings alone, and asks for none of its own`() async throws {
            try await RunningGateway.whileRunning { gateway in
                gateway.backend.enqueue(
                    .response(fields: ["Content-Encoding": "gzip", "Content-Type": "x/y"], body: "no gzip at all"))
                let answer = try await gateway.caller.get(
                    "files/coded", options: .init(decodesContent: false), as: .string)
                #expect(answer.value == "no gzip at all")
                #expect(answer.fields["Content-Encoding"] == "gzip" && answer.fields["Content-Length"] == "14")
                #expect(!(try await gateway.backend.nextRequest().fields.contains("Accept-Encoding")))
            }
        }

        @Test(arguments: [true, false])
        func `passes bodies on with their length, or chunked`(isKnown: Bool) async throws {
            try await RunningGateway.whileRunning { gateway in
                gateway.backend.respond { request in
                    isKnown ? .response(body: request.body) : .chunked([request.body])
                }
                let pieces = AsyncStream<Bytes> { continuation in
                    for text in ["one ", "two ", "three"] { continuation.yield(Bytes(text)) }
                    continuation.finish()
                }
                let answer = try await gateway.caller.post(
                    "files/echo", body: .stream(pieces, length: isKnown ? 13 : nil, contentType: "x/y"),
                    as: .string)
                #expect(answer.value == "one two three")
                #expect(answer.fields["Content-Length"] == (isKnown ? "13" : nil))
                let sent = try await gateway.backend.nextRequest()
                #expect(sent.fields["Content-Length"] == (isKnown ? "13" : nil))
                #expect(sent.fields["Content-Type"] == "x/y")
            }
        }

        @Test func `sends no body with a request that has none`() async throws {
            try await RunningGateway.whileRunning { gateway in
                gateway.backend.enqueue(.response(body: "123"), .response())
                #expect(try await gateway.caller.head("files/h").fields["Content-Length"] == "3")
                try await gateway.caller.delete("files/h")
                for request in gateway.backend.requests {
                    #expect(request.bodyCount == 0 && !request.fields.contains("Transfer-Encoding"))
                }
                #expect(gateway.backend.requests.map(\.method) == [.head, .delete])
            }
        }
    }

    @Suite struct `Fields that are passed on` {
        @Test(arguments: [
            ("close", ["a", "b"]), ("a", ["b"]), ("A , B", []), ("a,,b", []), ("", ["a", "b"]), ("a b", []),
        ]) func `are those that Connection does not name`(named: String, left: [String]) throws {
            var fields = HTTPFields()
            for name in ["a", "b"] { fields[try #require(HTTPField.Name(name))] = "1" }
            fields[.connection] = named
            #expect(fields.endToEnd.map(\.name.rawName) == left)
        }
    }
}
