import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

/// What a caller says becomes a request, and nothing else does.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
    @Test(
        .rows("HS-1", "HS-3", "HS-4", "LX-1"),
        arguments: [
            ("foo", "/v1/foo"), ("foo?bar=baz", "/v1/foo?bar=baz"), ("foo/", "/v1/foo/"), ("?x=1", "/v1/?x=1"),
            ("/foo", "/foo"), ("/foo/", "/foo/"), ("../up", "/up"), ("", "/v1/"), ("./here", "/v1/here"),
        ])
    func `relative targets are resolved against the base`(target: String, expected: String) async throws {
        for base in ["http://example.com/v1/", "http://example.com/v1"] {
            let mock = try Mocked(base)
            mock.transport.on(.get, expected).respond()
            _ = try await mock.session.get(HTTP.Target(target), as: .bytes)
            #expect(mock.transport.requests.map(\.target) == [expected])
            #expect(mock.transport.requests.first?.origin.description == "http://example.com")
        }
    }

    @Test(.rules("9110-9.3.4-1")) func `a PUT has no Content-Range, even if its body is a part of a file`() async throws
    {
        let mock = try Mocked()
        mock.transport.on(.put, "/x").respond()
        _ = try await mock.session.put("/x", body: .file(#filePath, range: 2..<12), as: .bytes)
        let sent = try #require(mock.transport.requests.first)
        #expect(sent.method == .put && !sent.fields.contains("Content-Range"))
    }

    @Test func `a session may be made of what is said of it alone`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/x").respond()
        let session = try HTTPSession {
            $0.transport = transport
            $0.fields = ["X-A": "1"]
        }
        _ = try await session.get("http://api.test/x", as: .bytes)
        #expect(transport.requests.map { $0.fields["x-a"] } == ["1"])
        let short = try HTTPSession { $0.timeouts.total = .seconds(20) }
        #expect(short.configuration.timeouts.total == .seconds(20))
    }

    @Test(.rows("HS-3")) func `an absolute target replaces the base`() async throws {
        let mock = try Mocked("http://example.com/v1/")
        mock.transport.on(.get, "/elsewhere").respond()
        _ = try await mock.session.get("http://other.test:8080/elsewhere", as: .bytes)
        #expect(mock.transport.requests.first?.origin == HTTP.Origin(scheme: .http, host: "other.test", port: 8080))
    }

    @Test(
        .rows("G-7", "HS-5", "HS-6", "HS-18"),
        arguments: [
            ("relative", NetworkError.Code.invalidRequest), ("http://", .invalidRequest),
            ("foo:bar", .unsupportedScheme),
            ("ftp://a.test/", .unsupportedScheme),
        ])
    func `a target without a usable URL is refused before the transport sees it`(
        target: String, code: NetworkError.Code
    ) async throws {
        let mock = try Mocked(nil)
        let error = try await networkError { _ = try await mock.session.get(HTTP.Target(target), as: .bytes) }
        #expect(error?.code == code)
        #expect(error?.requestMayHaveBeenSent == false)
        #expect(mock.transport.requests.isEmpty)
    }

    @Test func `an interpolated value is one escaped segment`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/users/*").respond()
        _ = try await mock.session.get("users/\("../admin?x=1 ä")", as: .bytes)
        #expect(mock.transport.requests.first?.target == "/users/..%2Fadmin%3Fx%3D1%20%C3%A4")
    }

    @Test(arguments: [("", "report.pdf"), (".", "report..pdf"), ("-2", "report-2.pdf")])
    func `an interpolated value may be a part of a segment`(suffix: String, name: String) async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/files/\(name)").respond()
        _ = try await mock.session.get("files/report\(suffix).pdf", as: .bytes)
        #expect(mock.transport.requests.first?.target == "/files/\(name)")
    }

    @Test(arguments: [".", "..", ""])
    func `an interpolated value that would climb is refused`(segment: String) async throws {
        let mock = try Mocked()
        let error = try await networkError { _ = try await mock.session.get("users/\(segment)/posts", as: .bytes) }
        #expect(error?.code == .invalidRequest)
        #expect(mock.transport.requests.isEmpty)
    }

    @Test(
        arguments: [
            (
                "list", ["q": "a b&c", "tag": "x", "tag": "y", "flag": HTTP.QueryFlag()],
                "/list?q=a%20b%26c&tag=x&tag=y&flag"
            ),
            ("list?page=2", ["per": "10"], "/list?page=2&per=10"),
            ("list", ["+": "ü/?"], "/list?%2B=%C3%BC/?"),
            ("list", [:], "/list"),
        ] as [(String, HTTP.Query, String)])
    func `a query reaches the transport encoded, in order, repeats kept`(
        target: String, query: HTTP.Query, expected: String
    ) async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/list").respond()
        _ = try await mock.session.get(HTTP.Target(target), query: query, as: .bytes)
        #expect(mock.transport.requests.map(\.target) == [expected])
    }

    @Test(.rows("HS-12", "RQ-41", "VD-4"), .rules("9110-12.5.4-1"))
    func `a request's fields replace the session's of the same name, and only those`() async throws {
        let mock = try Mocked { $0.fields = ["User-Agent": "Session", "X-Both": "1", "x-both": "2", "X-Kept": "yes"] }
        mock.transport.on(.get, "/").respond()
        let options = HTTPSession.Options(fields: ["X-BOTH": "3", "X-Own": "4"])
        _ = try await mock.session.get("/", options: options, as: .bytes)
        let fields = try #require(mock.transport.requests.first?.fields)
        #expect(fields.values(of: "x-both") == ["3"])
        #expect(fields["User-Agent"] == "Session")
        #expect(fields["X-Kept"] == "yes")
        #expect(fields["X-Own"] == "4")
    }

    @Test(.rules("9110-12.5.1-1")) func `a serializer asks for its type unless the request does`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").respond(json: 1).always()
        _ = try await mock.session.get("/", as: Int.self)
        _ = try await mock.session.get("/", options: .init(fields: ["Accept": "text/json"]), as: Int.self)
        #expect(
            mock.transport.requests.map { $0.fields.values(of: "accept") } == [["application/json"], ["text/json"]])
    }

    @Test(.rows("HS-9", "VD-4"), .rules("9110-8.3-1"))
    func `each verb sends its method, and a body brings its content type`() async throws {
        let mock = try Mocked()
        let session = mock.session
        for method in [HTTP.Method.get, .head, .post, .put, .patch, .delete] {
            mock.transport.on(method, "/").respond()
        }
        let body = try RequestBody.json(User(id: 1, name: "Ada"))
        _ = try await session.get("/", as: .bytes)
        _ = try await session.head("/")
        _ = try await session.post("/", body: body, as: .bytes)
        _ = try await session.put("/", body: body, as: .bytes)
        _ = try await session.patch("/", body: body, as: .bytes)
        _ = try await session.delete("/", as: .bytes)
        try mock.transport.verify()
        let requests = mock.transport.requests
        #expect(requests.map(\.method.rawValue) == ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
        #expect(requests.map { $0.fields["content-type"] != nil } == [false, false, true, true, true, false])
        #expect(requests[2].fields["content-type"] == "application/json")
        #expect(requests[2].body.count == body.byteCount)
    }

    @Test(.rules("9110-9.3.7-1")) func `a body of OPTIONS has its type`() async throws {
        let mock = try Mocked()
        mock.transport.on(.options, "/").respond()
        let body = try RequestBody.json(User(id: 1, name: "Ada"))
        _ = try await mock.session.request("/", method: .options, body: body, as: .bytes)
        #expect(mock.transport.requests.first?.fields["content-type"] == "application/json")
    }
}

extension RequestBody {
    fileprivate var byteCount: Int? {
        if case .bytes(let bytes) = content { bytes.count } else { nil }
    }
}
