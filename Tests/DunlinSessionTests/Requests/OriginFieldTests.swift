import Dunlin
import DunlinTesting
import Mocking
import Testing

/// Credentials and fields for the base URL's origin: replaced while a session lives, and sent to no other.
@Suite(.timeLimit(.minutes(10))) struct `Credentials and fields of an origin` {
    private func mocked(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> Mocked {
        let mock = try Mocked("http://api.test/v1/", change)
        mock.transport.otherwise { request in
            request.path == "/v1/away" ? .respond(302, fields: ["Location": "http://other.test/"]) : .respond()
        }
        return mock
    }

    private func sent(_ name: String, _ mock: Mocked, _ target: HTTP.Target = "x", _ fields: Fields = [:]) async throws
        -> [String]
    {
        _ = try await mock.session.get(target, fields: fields)
        return try #require(mock.transport.requests.last).fields.values(of: name)
    }

    @Test func `credentials are replaced for the requests made from then on`() async throws {
        let mock = try mocked { $0.credentials = .bearer(token: "one") }
        #expect(try await sent("authorization", mock) == ["Bearer one"])
        try mock.session.replace(credentials: .bearer(token: "two"))
        #expect(try await sent("authorization", mock) == ["Bearer two"])
        #expect(try await sent("authorization", mock, "x", ["Authorization": "own"]) == ["own"])
        #expect(try await sent("authorization", mock, "http://other.test/") == [])
        #expect(try await sent("authorization", mock, "http://ann:b@api.test/") == [])
        try mock.session.replace(credentials: nil)
        #expect(try await sent("authorization", mock) == [])
        await mock.session.restart()
        try mock.session.replace(credentials: .basic(user: "a", password: "b"))
        #expect(try await sent("authorization", mock) == ["Basic YTpi"])
        #expect(try await sent("user-agent", mock).count == 1)
    }

    @Test func `an Accept-Encoding in an origin's fields is sent even if content is not decoded`() async throws {
        let mock = try mocked { $0.originFields["Accept-Encoding"] = "zstd" }
        let options = HTTPSession.Options(decodesContent: false)
        _ = try await mock.session.get("x", options: options)
        _ = try await mock.session.get("http://other.test/", options: options)
        #expect(mock.transport.requests.map { $0.fields["Accept-Encoding"] } == ["zstd", nil])
    }

    @Test func `fields of an origin never leave it`() async throws {
        let mock = try mocked {
            $0.originFields = ["X-Tenant": "7"]
            $0.fields["X-Tenant"] = "none"
        }
        #expect(!"\(mock.session.configuration.originFields)".contains("7"))
        #expect(try await sent("x-tenant", mock) == ["7"])
        #expect(try await sent("x-tenant", mock, "http://other.test/") == ["none"])
        #expect(try await sent("x-tenant", mock, "away") == [])
        #expect(try await sent("x-tenant", mock, "x", ["x-tenant": "own"]) == ["own"])
        try mock.session.replace(originFields: ["X-Tenant": "8", "X-Plain": "text"])
        #expect(try await sent("x-tenant", mock) == ["8"])
        #expect(try await sent("x-plain", mock, "x", ["X-A": "1"]) == ["text"])
        #expect(!"\(try #require(mock.transport.requests.last).fields)".contains("text"))
        try mock.session.replace(originFields: [:])
        #expect(try await sent("x-tenant", mock) == ["none"])
    }

    @Test(arguments: ["x", "a%20b", "../v1/x", "x#f", "?q"])
    func `a session's field Authorization goes before the user info of its base, whatever the target`(
        target: String
    ) async throws {
        let mock = try Mocked("http://svc:pw@api.test/v1/") { $0.fields["Authorization"] = "Bearer t" }
        mock.transport.otherwise { _ in .respond() }
        #expect(try await sent("authorization", mock, .url(target)) == ["Bearer t"])
    }

    @Test func `credentials and fields that cannot be sent change nothing`() async throws {
        let mock = try mocked { $0.credentials = .bearer(token: "one") }
        #expect(throws: NetworkError.self) { try mock.session.replace(credentials: .bearer(token: "no token")) }
        #expect(throws: NetworkError.self) { try mock.session.replace(originFields: ["Authorization": "x"]) }
        #expect(throws: NetworkError.self) { try mock.session.replace(originFields: ["X": "a\r\nb"]) }
        #expect(try await sent("authorization", mock) == ["Bearer one"])
        let homeless = try HTTPSession()
        #expect(throws: NetworkError.self) { try homeless.replace(credentials: .bearer(token: "x")) }
        #expect(throws: NetworkError.self) { try homeless.replace(originFields: ["X": "x"]) }
        await homeless.shutdown()
    }
}
