import Dunlin
import DunlinHTTPTypes
import DunlinTesting
import HTTPTypes
import Testing

@Suite struct `A session that sends an HTTPRequest` {
    @Test func `sends its method, target and fields, and the body`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(.created, fields: ["X-Answer": "1"], body: "made"))
        var request = HTTPRequest(
            method: .put, scheme: "http", authority: authority(of: server), path: "/a%2Fb?c=%20")
        request.headerFields.append(HTTPField(name: .accept, value: "text/plain"))
        request.headerFields.append(HTTPField(name: .init("X-Two")!, value: "1"))
        request.headerFields.append(HTTPField(name: .init("x-two")!, value: "2"))
        let (response, body) = try await HTTPSession().send(request, body: .string("hello"))
        #expect(response.status == .created)
        #expect(response.headerFields[.init("x-answer")!] == "1")
        #expect(body == "made")
        let seen = try await server.nextRequest()
        #expect(seen.method == "PUT")
        #expect(seen.target == "/a%2Fb?c=%20")
        #expect(seen.fields.values(of: "host") == [authority(of: server)])
        #expect(seen.fields.values(of: "accept") == ["text/plain"])
        #expect(seen.fields.values(of: "x-two") == ["1", "2"])
        #expect(seen.fields["content-length"] == "5")
        #expect(seen.body == "hello")
        #expect(server.failures.isEmpty)
    }

    @Test func `takes a request without an authority as one to its base's origin`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: Bytes($0.target)) }
        let client = try Wire.session(server, base: "/v1/")
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/users?x=1")
        #expect(try await client.send(request).body == "/users?x=1")
    }

    @Test func `refuses a path that would name another host`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let client = try Wire.session(server)
        for (scheme, path) in [(nil, "//evil.test/x"), (nil, "/../x"), ("http", "/x"), (nil, "*")]
            as [(String?, String)]
        {
            let request = HTTPRequest(method: .options, scheme: scheme, authority: nil, path: path)
            await #expect(throws: NetworkError.self) { try await client.send(request) }
            await #expect(throws: NetworkError.self) { try await client.stream(request) }
        }
        #expect(server.requests.isEmpty)
    }

    /// The target is resolved like any URL, and nothing in it may change on the way.
    @Test func `sends each character of a path as it was written, or refuses it`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: Bytes($0.target)) }
        let client = try HTTPSession()
        for byte in UInt8(0)..<0x80 {
            for path in ["/a", "/a?", "//", "/%41/"] {
                let path = path + String(UnicodeScalar(byte)) + "b"
                let request = HTTPRequest(method: .get, scheme: "http", authority: authority(of: server), path: path)
                guard (try? RequestHead(request)) != nil else {
                    await #expect(throws: NetworkError.self) { try await client.send(request) }
                    continue
                }
                let sent = try await client.send(request).body
                #expect(String(sent) == path)
            }
        }
        #expect(server.failures.isEmpty)
    }

    @Test func `treats a status as its other requests do`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response(.notFound, body: "no") }
        let client = try Wire.session(server)
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        await #expect { try await client.send(request) } throws: { ($0 as? NetworkError)?.code == .unacceptableStatus }
        let all = HTTPSession.Options(validatesResponse: false)
        #expect(try await client.send(request, options: all).response.status == .notFound)
        #expect(try await client.stream(request).response.status == .notFound)
    }

    @Test func `refuses a Content-Length that is not the body's`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: $0.body) }
        let client = try Wire.session(server)
        var request = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
        request.headerFields[.contentLength] = "5"
        #expect(try await client.send(request, body: .string("hello")).body == "hello")
        await #expect(throws: NetworkError.self) { try await client.send(request, body: .string("longer")) }
        await #expect(throws: NetworkError.self) { try await client.send(request) }
        #expect(server.requests.count == 1)
    }

    @Test func `streams a body as it comes, and closes the connection when it is released`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .generated(length: 64 << 20) }
        let client = try Wire.session(server)
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
        do {
            let (response, body) = try await client.stream(request)
            #expect(response.headerFields[.contentLength] == "\(64 << 20)")
            var pieces = body.makeAsyncIterator()
            #expect(try await pieces.next()?.first == 0)
            // A reader that does not read stalls the server.
            try await server.wait { $0.blockedSends > 0 }
        }
        try await server.wait { $0.open == 0 }
        #expect(server.bytesSent < 64 << 20)
    }

    private func authority(of server: LoopbackServer) -> String { "\(server.address)" }
}
