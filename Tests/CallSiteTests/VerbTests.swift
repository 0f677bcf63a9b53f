import Dunlin
import DunlinTesting
import FoundationEssentials
import Testing

/// How calls read: each of these compiles, and asks for what it says.
@Suite(.timeLimit(.minutes(10))) struct `Verbs` {
    private nonisolated struct User: Codable, Equatable, Sendable {
        var id = 42
        var name = "Ada"
    }

    private let mock = MockTransport()
    private let client: HTTPSession

    init() throws {
        let transport = mock
        transport.otherwise { request in
            switch request.path {
            case "/v1/users/42", "/v1/users": .respond(json: User())
            default: .respond(body: "bytes")
            }
        }
        client = try HTTPSession(baseURL: "https://api.test/v1/") {
            $0.transport = transport
            try $0.use(ManualClock())
        }
    }

    private var asked: String {
        mock.requests.last.map { "\($0.method) \($0.target)" } ?? "nothing"
    }

    @Test func `a URL in a variable is a target, and a text by its label`() async throws {
        let url = try #require(URL(string: "https://api.test/v1/users/42?a=b%20c"))
        #expect(try await client.get(url, as: User.self) == User())
        #expect(asked == "GET /v1/users/42?a=b%20c")
        let text = "https://api.test/v1/users/42?x=%2F"
        #expect(try await client.get(url: text, as: User.self) == User())
        #expect(asked == "GET /v1/users/42?x=%2F")
        #expect(try await client.post(url, json: User(), as: .json(User.self)).value == User())
        _ = try await client.head(url)
        _ = try await client.head(url: text)
        try await client.put(url: text, json: User())
        try await client.patch(url, json: User())
        try await client.delete(url: text)
        #expect(asked == "DELETE /v1/users/42?x=%2F")
        let task = try client.task(.url(url), as: .json(User.self))
        #expect(try await task.value == User())
        #expect(try await client.stream(.url(text)).status == .ok)
    }

    @Test func `a literal escapes its values in every verb`() async throws {
        let id = "4/2?"
        try await client.get("x/\(id)")
        #expect(asked == "GET /v1/x/4%2F2%3F")
        try await client.post("x/\(id)?q=\("a&b")")
        #expect(asked == "POST /v1/x/4%2F2%3F?q=a%26b")
        try await client.put("x/\(id)")
        try await client.patch("x/\(id)")
        try await client.delete("x/\(id)")
        #expect(asked == "DELETE /v1/x/4%2F2%3F")
        _ = try await client.head("x/\(id)")
        #expect(asked == "HEAD /v1/x/4%2F2%3F")
    }

    @Test func `without a type verbs give the response with its bytes`() async throws {
        #expect(try await client.get("x").value == "bytes")
        #expect(try await client.post("x").body == "bytes")
        #expect(try await client.delete("x").status == .ok)
    }

    @Test func `a query, fields and a limit are said in the call`() async throws {
        let (page, tags, on) = (2, ["new", "red"], true)
        let none: String? = nil
        try await client.get("x", query: ["page": page, "tag": tags, "on": on, "x": none, "y": nil])
        #expect(asked == "GET /v1/x?page=2&tag=new&tag=red&on=true")
        let dictionary = ["b": "2", "a": "1"]
        try await client.get("x", query: .init(dictionary), fields: .init(dictionary), timeout: .seconds(120))
        #expect(asked == "GET /v1/x?a=1&b=2")
        let fields = try #require(mock.requests.last).fields
        #expect(fields["a"] == "1" && fields["b"] == "2")
        try await client.get(
            "x", fields: ["X-A": "call"], options: .init(fields: ["X-A": "options", "X-B": "options"]))
        let both = try #require(mock.requests.last).fields
        #expect(both.values(of: "x-a") == ["call"] && both["x-b"] == "options")
    }

    @Test func `a value is sent as JSON in the session's way`() async throws {
        nonisolated struct Draft: Encodable { var firstName = "Ada" }
        let transport = mock
        let snake = try HTTPSession(baseURL: "https://api.test/v1/") {
            $0.transport = transport
            $0.json = .snakeCase
        }
        #expect(try await snake.post("users", json: Draft(), as: User.self) == User())
        let request = try #require(mock.requests.last)
        #expect(request.body == #"{"first_name":"Ada"}"# && request.fields["content-type"] == "application/json")
        let error = await #expect(throws: NetworkError.self) {
            try await snake.post("users", body: .string("x"), json: Draft())
        }
        #expect(error?.code == .invalidRequest && error?.reason.contains("two bodies") == true)
    }

    @Test func `progress is told of the body that moves`() async throws {
        let log = Log()
        try await client.post("x", body: .string("four"), progress: { await log.note("up \($0.wireBytes)") })
        #expect(await log.all.last == "up 4")
        try await client.get("x", progress: { await log.note("down \($0.wireBytes)") })
        #expect(await log.all.last == "down 5")
    }

    private actor Log {
        private(set) var all: [String] = []
        func note(_ text: String) { all.append(text) }
    }

    @Test func `options are one expression`() async throws {
        let options = HTTPSession.Options(
            fields: ["X-A": "1"], timeouts: .init(firstByte: .seconds(5), total: .none), label: "nightly",
            tags: ["a"], retry: .never, redirects: .never, credentials: .bearer(token: "t"), handlesCookies: false)
        try await client.get("x", options: options)
        #expect(mock.requests.last?.fields["authorization"] == "Bearer t")
        #expect(options.timeouts.pool == HTTPSession.PerRequest<Duration>.session && options.tags == ["a"])
    }

    @Test func `a session lives as long as a scope`() async throws {
        let transport = mock
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test/v1/")
        configuration.transport = transport
        let outer = try await withSession(configuration) { client in
            let user = try await client.get("users/42", as: User.self)
            #expect(user == User())
            return client
        }
        #expect(outer.isShutDown)
        await #expect(throws: CancellationError.self) {
            try await withSession(configuration) { _ in throw CancellationError() }
        }
    }

    @Test func `an identity and authorities are read from paths in variables`() {
        let folder = "/etc/dunlin"
        let path = "\(folder)/client.pem"
        #expect(HTTPSession.ClientIdentity.pem(path) == .pem(.file("/etc/dunlin/client.pem")))
        #expect(
            HTTPSession.ClientIdentity.pem("\(folder)/client.pem", key: path) == .pem(.file(path), key: .file(path)))
        #expect(HTTPSession.TLS.Roots.only(["\(folder)/ca.pem"]) == .only([.file("/etc/dunlin/ca.pem")]))
    }
}
