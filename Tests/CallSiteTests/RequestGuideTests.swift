import Dunlin
import DunlinTesting
import FoundationEssentials
import Testing

/// The snippets of the guides to requests, their options and their responses, word for word, and what the guides say of
/// them.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to requests` {
    private nonisolated struct Item: Codable, Equatable {
        var id: Int
    }

    let transport = MockTransport()

    private func client(_ change: (inout HTTPSession.Configuration) throws -> Void = { _ in }) throws -> HTTPSession {
        let transport = transport
        return try HTTPSession(baseURL: "http://api.test/v1/") {
            $0.transport = transport
            try change(&$0)
        }
    }

    private var sent: [String] {
        transport.requests.map { "\($0.method) \($0.target) \(String($0.body))" }
    }

    @Test(arguments: [
        ("http://api.test/v1/", "items", "/v1/items"), ("http://api.test/v1", "items", "/v1/items"),
        ("http://api.test/v1/", "/items", "/items"), ("http://api.test/v1/", "http://cdn.test/items", "/items"),
    ])
    func `a target goes under the base's path, unless it begins with a slash`(
        base: String, target: String, asked: String
    ) async throws {
        let transport = transport
        transport.otherwise { _ in .respond() }
        let client = try HTTPSession(baseURL: base) { $0.transport = transport }
        try await client.get(.url(target))
        #expect(transport.requests.map(\.target) == [asked])
        #expect(transport.requests[0].origin.host == (target.contains("cdn") ? "cdn.test" : "api.test"))
    }

    @Test func `the examples about a POST with fields and a body run as written`() async throws {
        let (draft, key) = (Draft(), "k")
        let client = try client { try $0.use(ManualClock()) }
        transport.otherwise { _ in .respond(json: User(id: 1, name: "Ada")) }
        do {
            let created = try await client.post(
                "users", fields: ["Idempotency-Key": key], json: draft,
                timeout: .seconds(5), as: User.self)

            #expect(created.id == 1)
        }

        let task = try client.task(
            "users", method: .post, fields: ["Idempotency-Key": key],
            json: draft, as: User.self)
        let created = try await task.value

        #expect(
            try await client.request(
                "users", method: .post, fields: ["Idempotency-Key": key], json: draft, as: User.self
            ).id
                == 1)
        let uploaded = try await client.withUpload(
            to: "users", fields: ["Idempotency-Key": key], body: .json(draft), as: User.self
        ) { try await $0.value }
        let streamed = try await client.stream("users", method: .post, fields: ["Idempotency-Key": key], json: draft)
        #expect(created.id == 1 && uploaded.id == 1 && streamed.status == .ok)
        #expect(sent == Array(repeating: #"POST /v1/users {"name":"Ada","tags":["new"]}"#, count: 5))
        #expect(transport.requests.allSatisfy { $0.fields["Idempotency-Key"] == "k" })
    }

    @Test func `bodies of bytes and texts have a content type`() async throws {
        let (client, photo) = (try client(), Data("png".utf8))
        transport.otherwise { _ in .respond() }
        try await client.put(
            "photos/7", body: .bytes(photo, contentType: "image/png"))
        try await client.put(
            "notes/7", body: .string("# Waders", contentType: "text/markdown"))

        #expect(sent == ["PUT /v1/photos/7 png", "PUT /v1/notes/7 # Waders"])
        #expect(transport.requests.map { $0.fields["Content-Type"] } == ["image/png", "text/markdown"])
    }

    @Test func `the examples about targets and texts in variables run as written`() async throws {
        let transport = transport
        let baseURL = try #require(URL(string: "http://api.test/v1/"))
        let (link, paths) = ("http://api.test/v1/users", ["albums/1", "albums/2"])
        let (filters, fields, limit) = (["q": "ada"], ["scope": "read"], Duration.seconds(3))
        let policy = HTTPSession.RetryPolicy.exponential(attempts: 2)
        transport.on(.post, "/v1/users").respond(json: User(id: 1, name: "Ada"))
        transport.otherwise { _ in .respond(json: [User]()) }
        do {
            let client = try HTTPSession(baseURL: baseURL)

            #expect(client.configuration.baseURL == "http://api.test/v1/")
        }

        let client = try HTTPSession(baseURL: baseURL) {
            $0.transport = transport
            // Tests run beside others that keep the main actor busy: no time passes for these requests.
            try $0.use(ManualClock())
        }
        let found = try await client.get(
            url: link, query: .init(filters), timeout: limit,
            options: .init(retry: .value(policy)), as: [User].self)
        let saved = try await client.post(
            "users", body: .form(fields), as: User.self)
        let batch = try client.batch(
            paths.map { .init(.url($0)) }, as: .bytes)

        #expect(found.isEmpty && saved.id == 1)
        #expect(transport.requests[0].timeouts.total == .seconds(3))
        #expect(try await batch.values.count == 2)
        #expect(sent.prefix(2) == ["GET /v1/users?q=ada ", "POST /v1/users scope=read"])
        #expect(Set(sent.dropFirst(2)) == ["GET /v1/albums/1 ", "GET /v1/albums/2 "])
        try await client.get(URL(string: link)!, fields: .init(filters))
        #expect(transport.requests.last?.fields["q"] == "ada")
    }

    @Test func `the example about values of a query runs as written`() async throws {
        let client = try client()
        transport.otherwise { _ in .respond(json: [Post]()) }
        let page: Int? = nil
        let found = try await client.get(
            "search",
            query: [
                "q": "dark waders", "tag": ["new", "red"], "page": page,
                "exact": true, "verbose": HTTP.QueryFlag(),
            ],
            as: [Post].self)

        #expect(found.isEmpty)
        #expect(sent == ["GET /v1/search?q=dark%20waders&tag=new&tag=red&exact=true&verbose "])
        let (none, some): ([String], [Int?]) = ([], [1, nil])
        let query: HTTP.Query = [
            "a": nil, "b": none, "c": "", "d": some, "e": 2.0, "f": Date(timeIntervalSince1970: 0),
        ]
        #expect(query.encoded == "c=&d=1&e=2&f=1970-01-01T00%3A00%3A00Z")
    }

    @Test func `the example about a compressed body runs as written`() async throws {
        let (client, draft) = (try client(), Draft())
        transport.otherwise { _ in .respond() }
        let body = try RequestBody.json(draft).compressed()
        try await client.post("users", body: body)

        let request = try #require(transport.requests.first)
        #expect(request.fields["Content-Encoding"] == "gzip" && request.fields["Content-Type"] == "application/json")
        #expect(request.body.array.starts(with: [0x1F, 0x8B]))
    }

    @Test func `the examples about what one request changes run as written`() async throws {
        let policy = HTTPSession.RetryPolicy.exponential(attempts: 2, base: .zero)
        transport.on(.get, "/v1/flaky").fail(.connectionRefused).thenRespond(.badGateway).thenRespond(body: "fit")
        transport.on(.get, "/v1/far").respond(302, fields: ["Location": "near"])
        transport.otherwise { _ in .respond(body: "else") }
        let client = try client { $0.credentials = .bearer(token: "t") }
        let options = HTTPSession.Options(
            bodyLimit: .none, retry: .exponential(attempts: 3),
            redirects: .follow(limit: 3), credentials: .none)
        let careful = HTTPSession.Options(
            retry: .value(policy), redirects: .none)

        #expect(try await client.get("flaky", options: options).retries.count == 2)
        #expect(transport.requests.allSatisfy { $0.fields["Authorization"] == nil })
        let far = await #expect(throws: NetworkError.self) { try await client.get("far", options: careful) }
        #expect(far?.response?.status == .found)
        #expect(transport.requests.last?.fields["Authorization"] == "Bearer t")
        try await client.get("x", fields: ["Authorization": "mine"], options: options)
        #expect(transport.requests.last?.fields["Authorization"] == "mine")
        #expect(HTTPSession.Options().timeouts.total == .session)
    }

    @Test func `the examples about pages that a server links to run as written`() async throws {
        transport.otherwise { request in
            request.query == nil
                ? .respond(
                    fields: ["Link": #"</a>; rel="up""#, "Link": #"<items?page=2>; rel="next""#], json: [Item(id: 1)])
                : .respond(json: [Item(id: 2)])
        }
        let client = try client()
        var items: [Item] = []
        var page = try await client.get("items", as: .json([Item].self))
        items += page.value
        while let next = page.links["next"] {
            page = try await client.get(next, as: .json([Item].self))
            items += page.value
        }

        #expect(items == [Item(id: 1), Item(id: 2)] && sent == ["GET /v1/items ", "GET /v1/items?page=2 "])
        let response = try await client.get("items")
        print(response.fields["content-type"] ?? "none")
        for link in response.fields.values(of: "Link") { print(link) }

        #expect(response.fields["link"] == "</a>; rel=\"up\"" && response.fields.values(of: "Link").count == 2)
        #expect(response.fields["Content-Type"] == "application/json" && response.fields["X"] == nil)
    }

    @Test func `the examples about bytes run as written`() async throws {
        let (client, id, data) = (try client(), 42, Data("abc".utf8))
        transport.otherwise { _ in .respond(body: #"{"id":7}"#) }
        do {
            let line: Bytes = "id=\(id)\n"
            let copy = Bytes(data)
            try await client.put("blob", body: .bytes(data))

            #expect(line == "id=42\n" && copy == "abc" && String(transport.requests[0].body) == "abc")
        }

        let response = try await client.get("items/7")
        let text = String(response.value)
        let item = try HTTP.JSON().decode(Item.self, from: response.value)
        let same = try HTTP.JSON().decode(Item.self, from: text)

        #expect(item == Item(id: 7) && same == item && text == #"{"id":7}"# && Data(response.value) == Data(text.utf8))
        #expect("\(response.value)" == "8 bytes" && String(Bytes([0xFF, 0x41])) == "\u{FFFD}A")
        #expect(response.value.array == Array(text.utf8) && response.value.count == 8)
    }
}
