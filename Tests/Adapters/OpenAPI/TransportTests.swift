import Dunlin
import DunlinOpenAPI
import DunlinTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A transport for generated clients` {
    static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    static func request(
        _ method: HTTPRequest.Method = .get, _ path: String? = "/pets", _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields)
    }

    @Test func `sends method, path, query, fields and body, and returns status, fields and body`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(.created, fields: ["X-Answer": "yes"], body: "\u{1F44B}!"))
        let (response, body) = try await OpenAPITransport(HTTPSession()).send(
            Self.request(.post, "/hello%20world/Maria?greeting=Howdy", [.contentType: "text/plain"]),
            body: "\u{1F44B}", baseURL: Self.url(server.baseURL + "/api"), operationID: "greet")
        #expect(response.status == .created)
        #expect(response.headerFields[.init("x-answer")!] == "yes")
        let answer = try #require(body)
        #expect(answer.length == .known(5))
        #expect(try await String(collecting: answer, upTo: 100) == "\u{1F44B}!")
        let seen = try await server.nextRequest()
        #expect(seen.method == "POST")
        #expect(seen.target == "/api/hello%20world/Maria?greeting=Howdy")
        #expect(seen.fields.values(of: "content-type") == ["text/plain"])
        #expect(seen.fields["content-length"] == "4")
        #expect(seen.body == "\u{1F44B}")
        #expect(server.failures.isEmpty)
    }

    @Test(arguments: [
        ("", "/pets", "/pets"), ("/", "/pets", "/pets"), ("/v1", "/pets", "/v1/pets"), ("/v1/", "/pets", "/v1/pets"),
        ("/v1/a%2Fb", "/pets?x=1", "/v1/a%2Fb/pets?x=1"), ("/v1", "/", "/v1/"), ("", "/a//b", "/a//b"),
        ("", "//a", "//a"),
    ])
    func `appends an operation's path to the server URL's`(base: String, path: String, target: String) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: Bytes($0.target)) }
        let (_, body) = try await OpenAPITransport(HTTPSession()).send(
            Self.request(.get, path), body: nil, baseURL: Self.url(server.baseURL + base), operationID: "op")
        #expect(try await String(collecting: #require(body), upTo: 100) == target)
    }

    /// `/` is what a document without servers has.
    @Test(arguments: [("/", "/pets"), ("/api", "/api/pets"), ("api/", "/v1/api/pets")])
    func `takes a server URL without a host as relative to the session's base URL`(
        base: String, target: String
    ) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { .response(body: Bytes($0.target)) }
        let session = try HTTPSession(baseURL: server.baseURL + "/v1")
        let (_, body) = try await OpenAPITransport(session).send(
            Self.request(), body: nil, baseURL: Self.url(base), operationID: "op")
        #expect(try await String(collecting: #require(body), upTo: 100) == target)
    }

    @Test(
        arguments: [
            ("http://BASE", nil), ("http://BASE", ""), ("http://BASE", "pets"), ("http://BASE", "/pets/../admin"),
            ("http://BASE", "/a b"), ("http://BASE", "/a#b"), ("http://BASE", "@evil.test/"), ("http://BASE?x=1", "/a"),
            ("http://BASE#x", "/a"), ("/", "//evil.test/a"), ("//evil.test", "/a"), ("ftp://BASE", "/a"),
            ("http://BASE", "*"),
        ] as [(String, String?)])
    func `refuses an address that would lead elsewhere, and names the operation`(
        base: String, path: String?
    ) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let session = try HTTPSession(baseURL: server.baseURL)
        let url = try Self.url(base.replacingOccurrences(of: "BASE", with: "\(server.address)"))
        await #expect {
            try await OpenAPITransport(session).send(
                Self.request(.options, path), body: nil, baseURL: url, operationID: "readPets")
        } throws: {
            ($0 as? NetworkError)?.reason.hasPrefix("operation readPets: ") == true
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `takes a host of the request only if it is the server URL's`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response() }
        let transport = OpenAPITransport(try HTTPSession())
        let host = try #require(HTTPField.Name("Host"))
        func send(_ change: (inout HTTPRequest) -> Void) async throws {
            var request = Self.request()
            change(&request)
            _ = try await transport.send(
                request, body: nil, baseURL: Self.url(server.baseURL), operationID: "op")
        }
        try await send { $0.authority = "\(server.address)" }
        try await send { $0.headerFields[host] = "\(server.address)" }
        try await send { ($0.scheme, $0.authority) = ("http", "\(server.address)") }
        await #expect(throws: NetworkError.self) { try await send { $0.authority = "evil.test" } }
        await #expect(throws: NetworkError.self) { try await send { $0.headerFields[host] = "evil.test" } }
        let refused = await #expect(throws: NetworkError.self) { try await send { $0.scheme = "https" } }
        let said = "has another scheme, host or port than the server URL, http://\(server.address)"
        #expect(refused?.reason.contains(said) == true, "\(refused?.reason ?? "")")
        #expect(server.requests.count == 3)
        #expect(server.requests.allSatisfy { $0.fields.values(of: "host") == ["\(server.address)"] })
    }

    @Test(arguments: [(HTTPRequest.Method.head, 200), (.get, 204), (.get, 304)])
    func `returns no body where there can be none`(method: HTTPRequest.Method, status: Int) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(HTTP.Status(status), body: method == .head ? "hello" : ""))
        let (response, body) = try await OpenAPITransport(HTTPSession()).send(
            Self.request(method), body: nil, baseURL: Self.url(server.baseURL), operationID: "op")
        #expect(response.status.code == status)
        #expect(body == nil)
    }

    @Test func `does not know the length of a chunked body, nor that of a decoded one`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let coded: Bytes = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        server.enqueue(
            .chunked(["he", "llo"]), .response(fields: ["Content-Encoding": "gzip"], body: coded),
            .untilClose("hello"))
        let transport = OpenAPITransport(try HTTPSession())
        for _ in 0..<3 {
            let (_, body) = try await transport.send(
                Self.request(), body: nil, baseURL: Self.url(server.baseURL), operationID: "op")
            let answer = try #require(body)
            #expect(answer.length == .unknown)
            #expect(try await String(collecting: answer, upTo: 100) == "hello")
        }
    }

    @Test func `lets a response's body be read once`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(body: "hello"))
        let (_, body) = try await OpenAPITransport(HTTPSession()).send(
            Self.request(), body: nil, baseURL: Self.url(server.baseURL), operationID: "op")
        let answer = try #require(body)
        #expect(answer.iterationBehavior == .single)
        #expect(try await [UInt8](collecting: answer, upTo: 100).count == 5)
        await #expect(throws: (any Error).self) { try await [UInt8](collecting: answer, upTo: 100) }
    }

    @Test func `uses the options it was given, and labels requests with the operation`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.respond { _ in .response() }
        let session = try HTTPSession(baseURL: server.baseURL)
        let labels = Mutex<[String?]>([])
        var hooks = HTTPSession.Hooks()
        hooks.response = { snapshot, _ in
            labels.withLock { $0.append(snapshot.label) }
            return nil
        }
        let given: Fields = ["X-Given": "1", "Accept": "text/plain"]
        for label in [nil, "mine"] {
            let options = HTTPSession.Options(fields: given, label: label, hooks: hooks)
            _ = try await OpenAPITransport(session, options: options).send(
                Self.request(.get, "/pets", [.accept: "application/json"]), body: nil, baseURL: Self.url("/"),
                operationID: "readPets")
        }
        #expect(labels.withLock { $0 } == ["readPets", "mine"])
        let seen = try await server.nextRequest()
        #expect(seen.fields["x-given"] == "1")
        #expect(seen.fields.values(of: "accept") == ["application/json"])
    }

    @Test func `names the operation, and no secret, in every error`() async throws {
        let server = try LoopbackServer()
        server.stop()
        let base = try Self.url("http://user:planted-secret@\(server.address)/?".dropLast().description)
        await #expect {
            try await OpenAPITransport(HTTPSession()).send(
                Self.request(.get, "/pets?token=planted-secret", [.authorization: "Bearer planted-secret"]), body: nil,
                baseURL: base, operationID: "readPets")
        } throws: {
            let error = $0 as? NetworkError
            return error?.code == .connectionFailed && error?.reason.contains("operation readPets: ") == true
                && !"\($0)".contains("planted-secret") && !String(reflecting: $0).contains("planted-secret")
        }
    }
}
