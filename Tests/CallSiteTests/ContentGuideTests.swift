import Dunlin
import DunlinTesting
import Foundation
import Testing

/// The snippets of the guides to JSON, responses, redirects and cookies, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to content` {
    private nonisolated struct User: Codable, Equatable {
        var id: Int
        var firstName: String
    }

    private nonisolated struct Page: Codable {
        var items: [Int]
    }

    private nonisolated struct Item: Codable {
        var id: Int
    }

    private nonisolated struct Feed: Codable {
        var title: String
    }

    private nonisolated struct Problem: Codable {
        var title: String
    }

    private nonisolated struct Release: Codable {
        var version: Int
    }

    let transport = MockTransport()

    private func client(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com/", transport: transport)
        change(&configuration)
        return try HTTPSession(configuration)
    }

    @Test func `the examples about settings of JSON run as written`() async throws {
        transport.otherwise { _ in .respond(json: ["id": 42, "first_name": "Ada"] as DynamicValue) }
        let draft = User(id: 42, firstName: "Ada")
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com/", transport: transport)
        configuration.json = .snakeCase.iso8601

        #expect(try await HTTPSession(configuration).get("users/42", as: User.self) == draft)
        let client = try client()
        await #expect(throws: NetworkError.self) { try await client.get("users/42", as: User.self) }
        let user = try await client.get(
            "users/42", as: .json(User.self, .snakeCase)
        ).value
        let made = try await client.post(
            "users", body: .json(draft, .snakeCase),
            as: .json(User.self, .snakeCase)
        ).value

        #expect(user == draft && made == draft)
        #expect(transport.requests.last?.body == #"{"id":42,"first_name":"Ada"}"#)
    }

    @Test func `the examples about JSON without a session run as written`() throws {
        let bytes: Bytes = #"[{"id":42,"first_name":"Ada"}]"#
        let users = try HTTP.JSON.snakeCase.decode(
            [User].self, from: bytes)
        let text = try HTTP.JSON.iso8601.encode(users)

        #expect(users.first?.firstName == "Ada" && text == #"[{"id":42,"firstName":"Ada"}]"#)
    }

    @Test func `errors of JSON are printed as its article shows them`() {
        nonisolated struct Wader: Decodable {
            var name: String
            var age: Int
        }
        func text(_ row: String) -> String {
            let json = "[{\"name\":\"a\",\"age\":1},{\"name\":\"b\",\"age\":2},\n\n\(row)]"
            let error = #expect(throws: DecodingError.self) {
                try HTTP.JSON.standard.decode([Wader].self, from: Bytes(json.utf8))
            }
            switch error {
            case .typeMismatch(_, let context), .keyNotFound(_, let context): return context.debugDescription
            default: return "\(error as Any)"
            }
        }
        #expect(
            isShown(
                text(#" {"name":"c","age":"x"}"#),
                as: """
                    expected Int, found the text "x" (at [2].age, line 3, column 20)
                    """))
        #expect(
            isShown(
                text(#" {"nme": 1}"#),
                as: """
                    the member "name" is missing; found "nme" (at [2], line 3, column 2)
                    """))
    }

    @Test func `the examples about reading responses run as written`() async throws {
        transport.on(.get, "/users/42").respond(json: User(id: 42, firstName: "Ada"))
        transport.on(.get, "/users").respond(fields: ["ETag": "\"1\""], json: Page(items: [1, 2]))
        transport.on(.get, "/feed").respond(fields: ["Content-Type": "text/plain"], body: #"{"title":"x"}"#).always()
        transport.on(.get, "/items/7").respond(.notFound).always()
        transport.on(.post, "/orders").respond(422, json: Problem(title: "no such article")).always()
        let client = try client()
        let user = try await client.get("users/42", as: User.self)
        let page = try await client.get("users", as: .json(Page.self))
        print(page.value.items.count, page.fields["etag"] ?? "-")

        #expect(user.id == 42 && page.value.items.count == 2)
        let feed = try await client.get(
            "feed", as: .json(Feed.self).accepting("text/plain"))
        let item = try await client.get(
            "items/7", as: .json(Item?.self).accepting(statuses: [404]))

        #expect(feed.value.title == "x" && item.value == nil)
        await #expect(throws: NetworkError.self) { try await client.get("feed", as: .json(Feed.self)) }
        await #expect(throws: NetworkError.self) { try await client.get("items/7", as: .json(Item?.self)) }
        let order = Item(id: 7)
        do {
            _ = try await client.post("orders", body: .json(order), as: .void)
        } catch let error as NetworkError where error.code == .unacceptableStatus {
            let problem = try error.body(as: Problem.self)
            print(problem.title)
        }

        let error = await #expect(throws: NetworkError.self) { try await client.post("orders", body: .json(order)) }
        #expect(try error?.body(as: Problem.self).title == "no such article")
    }

    @Test func `the examples about redirects run as written`() async throws {
        transport.on(.get, "/latest").respond(302, fields: ["Location": "/releases/42"])
        transport.on(.get, "/releases/42").respond(json: Release(version: 42))
        transport.on(.get, "/login").respond(302, fields: ["Location": "app://done?code=7"])
        let client = try client()
        do {
            let response = try await client.get(
                "latest", as: .json(Release.self))
            print(response.url)  // https://api.example.com/releases/42
            print(response.history.map(\.status))  // [302]

            #expect(response.url == "https://api.example.com/releases/42" && response.value.version == 42)
            #expect(response.history.map(\.status) == [302])
        }

        var options = HTTPSession.Options(validatesResponse: false)
        options.hooks.redirect = { proposal in
            proposal.next.url.hasPrefix("app://") ? .stop : .follow
        }
        let response = try await client.get(
            "login", options: options, as: .string)
        let callback = response.fields["Location"]

        #expect(callback == "app://done?code=7")
    }

    @Test func `the examples about what a redirect takes to another origin run as written`() async throws {
        let (token, password) = ("t", "p")
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com/", transport: transport)
        configuration.secretFields = ["X-Tenant-Key"]
        configuration.redirects.secretFields = ["X-Tenant"]

        var options = HTTPSession.Options(fields: ["X-Tenant-Key": "k", "X-Tenant": "t", "X-Trace": "7"])
        configuration.credentials = .bearer(token: token)
        options.credentials = .basic(user: "ada", password: password)

        transport.on(.get, "/here").respond(302, fields: ["Location": "https://other.test/there"])
        transport.otherwise { _ in .respond(body: "there") }
        let client = try HTTPSession(configuration)
        try await client.get("here", options: options)
        try await client.get("mine")
        try await client.get("https://other.test/x")
        let sent = transport.requests.map(\.fields)
        #expect(sent[0]["X-Tenant-Key"] == "k" && sent[0]["X-Tenant"] == "t")
        #expect(sent[0]["Authorization"] == "Basic YWRhOnA=")
        #expect(sent[1]["X-Tenant-Key"] == nil && sent[1]["X-Tenant"] == nil && sent[1]["X-Trace"] == "7")
        #expect(sent[1]["Authorization"] == nil)
        #expect(sent[2]["Authorization"] == "Bearer t" && sent[3]["Authorization"] == nil)
    }

    @Test func `the examples about cookies run as written`() async throws {
        let field: Fields = ["Set-Cookie": "id=7; Max-Age=3600"]
        transport.otherwise { _ in .respond(fields: field, body: "x") }
        var configuration = HTTPSession.Configuration(baseURL: "https://api.example.com/", transport: transport)
        let jar = CookieJar()
        configuration.cookies = jar

        let client = try HTTPSession(configuration)
        try await client.get("users")
        try await client.get("users")
        var options = HTTPSession.Options()
        options.handlesCookies = false

        try await client.get("users", options: options)
        #expect(transport.requests.map { $0.fields["Cookie"] } == [nil, "id=7", nil])
        try jar.receive(["Set-Cookie": "old=1"], from: "https://old.example.com/")
        let mine = try jar.cookies(for: "https://api.example.com/users")
        jar.remove { $0.domain == "old.example.com" }
        let data = try JSONEncoder().encode(jar.snapshot())

        #expect(mine.map(\.name) == ["id"] && jar.cookies.count == 1)
        let restored = CookieJar()
        restored.restore(try JSONDecoder().decode(CookieJar.Snapshot.self, from: data))
        #expect(restored.cookies == jar.cookies)
    }
}
