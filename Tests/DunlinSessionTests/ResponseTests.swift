import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

/// What comes back becomes a value, or an error that says why not.
@Suite(.timeLimit(.minutes(10))) struct ResponseTests {
    @Test(.rows("SM-2", "HS-10", "VD-1"))
    func `JSON becomes a value, and the whole response if asked for`() async throws {
        let mock = try Mocked()
        let ada = User(id: 42, name: "Ada")
        mock.transport.on(.get, "/users/42").respond(json: ada).thenRespond(.created, fields: ["X-A": "b"], json: ada)
        #expect(try await mock.session.get("users/42", as: User.self) == ada)
        let response = try await mock.session.get("users/42", as: .json(User.self))
        #expect(response.value == ada)
        #expect(response.status == .created)
        #expect(response.fields["x-a"] == "b")
        mock.transport.on(.get, "/text").respond(body: "as it came")
        #expect(try await mock.session.get("text").value == "as it came")
        try mock.transport.verify()
    }

    @Test(.rules("9110-15-3", "9110-15.5-1"), arguments: [300, 304, 400, 404, 500, 599, 999] as [HTTP.Status])
    func `a status other than 2xx is an error that carries the response`(status: HTTP.Status) async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").respond(status, fields: ["X-Why": "because"], body: "no such thing")
        let error = try await networkError { _ = try await mock.session.get("/", as: .string) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status == status)
        #expect(error?.response?.fields["x-why"] == "because")
        #expect(error?.body == (status == .notModified ? Bytes.empty : "no such thing"))
    }

    @Test(.rules("9110-14.4-3")) func `a Content-Range of another status than 206 means nothing`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").respond(fields: ["Content-Range": "bytes 0-1/9"], body: "whole")
        #expect(try await mock.session.get("/", as: .string).value == "whole")
    }

    @Test func `validation can be turned off for a request`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").respond(.notFound, body: "gone")
        let response = try await mock.session.get("/", options: .init(validatesResponse: false), as: .string)
        #expect(response.status == .notFound)
        #expect(response.value == "gone")
    }

    @Test(
        .rules("9110-8.3-3"),
        arguments: [
            ("text/html", false), ("application/jsonp", false), ("application/json", true),
            ("APPLICATION/JSON; charset=utf-8", true), ("application/problem+json", true), ("text/json", true),
        ])
    func `JSON is taken under its own content types only`(type: String, isTaken: Bool) async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").respond(fields: ["Content-Type": type], body: "1")
        let error = try await networkError { _ = try await mock.session.get("/", as: Int.self) }
        #expect(error?.code == (isTaken ? nil : .unacceptableContentType))
        #expect(error?.body == (isTaken ? nil : "1"))
    }

    @Test(arguments: [false, true])
    func `JSON that does not fit is an error that says where, of which request`(isObserved: Bool) async throws {
        let mock = try Mocked { if isObserved { $0.hooks.completed = { _ in } } }
        mock.transport.on(.get, "/u").respond(json: ["id": "x"])
        let error = try #require(
            try await networkError { _ = try await mock.session.get("u?token=hidden&q=1", as: User.self) })
        #expect(error.code == .decodingFailed && error.underlying is DecodingError)
        #expect(error.codingPath.map(\.stringValue) == ["id"])
        #expect(error.request?.description == "GET http://api.test/u?token=***&q=1")
        #expect(error.response?.status == .ok && error.body == #"{"id":"x"}"#)
        #expect(
            error.description == """
                GET http://api.test/u?token=***&q=1: decodingFailed: expected Int, found the text "x" (at id, line 1, \
                column 7) (phase receive)
                """)
    }

    @Test func `every error names its request`() async throws {
        let mock = try Mocked("http://ann:pass@api.test")
        mock.transport.on(.post, "/a").fail(.connectionReset)
        let failed = try await networkError { _ = try await mock.session.post("a", as: .bytes) }
        #expect(failed?.request?.description == "POST http://api.test/a" && failed?.peer != nil)
        #expect(failed?.description.hasPrefix("POST http://api.test/a: connectionClosed: ") == true)
        let refused = try await networkError { _ = try await mock.session.get("a/\("..")?sig=hidden", as: .bytes) }
        #expect(refused?.request?.description == "GET a/..?sig=***")
        await mock.session.shutdown()
        let closed = try await networkError { _ = try await mock.session.get("a", as: .bytes) }
        #expect(closed?.code == .sessionShutDown && closed?.request?.description == "GET http://api.test/a")
    }

    @Test(arguments: [(10, true), (9, false)])
    func `a body is read up to its cap`(cap: Int, fits: Bool) async throws {
        let mock = try Mocked { $0.limits.bodyBytes = cap }
        mock.transport.on(.get, "/whole").respond(body: "0123456789")
        mock.transport.on(.get, "/declared").stream(["01234", "56789"], length: 10)
        mock.transport.on(.get, "/undeclared").stream(["01234", "56789"])
        for target in ["whole", "declared", "undeclared"] {
            let error = try await networkError {
                let response = try await mock.session.get("\(target)", as: .string)
                #expect(response.value == "0123456789")
            }
            #expect(error?.code == (fits ? nil : .limitExceeded), "\(target)")
        }
    }

    @Test func `a request's own cap counts instead of the session's`() async throws {
        let mock = try Mocked { $0.limits.bodyBytes = 1 }
        mock.transport.on(.get, "/").respond(body: "0123456789")
        let response = try await mock.session.get("/", options: .init(bodyLimit: 10), as: .bytes)
        #expect(response.value.count == 10)
    }

    @Test func `a declared length above the cap is refused before a piece is read`() async throws {
        let mock = try Mocked { $0.limits.bodyBytes = 4 }
        mock.transport.on(.get, "/").reply(
            .stream(length: 5) { _ in
                Issue.record("a piece was asked for")
                return nil
            })
        let error = try await networkError { _ = try await mock.session.get("/", as: .bytes) }
        #expect(error?.code == .limitExceeded)
    }

    @Test(arguments: [10, nil], [true, false])
    func `a body that is too long is one of a refused status only where that is refused`(
        length: Int?, isWatched: Bool
    ) async throws {
        let mock = try Mocked { $0.limits.bodyBytes = 4 }
        mock.transport.otherwise { _ in .stream(["01", "234", "56789"], status: 500, length: length) }
        func code(_ serializer: StringSerializer, validates: Bool = true) async throws -> NetworkError.Code? {
            let options = HTTPSession.Options(validatesResponse: validates)
            let error = try await networkError {
                if isWatched {
                    _ = try await mock.session.task("a", options: options, as: serializer).value
                } else {
                    _ = try await mock.session.get("a", options: options, as: serializer)
                }
            }
            #expect(error?.body == "0123" && error?.request?.url == "http://api.test/a")
            return error?.code
        }
        #expect(try await code(.string) == .unacceptableStatus)
        #expect(try await code(.string.accepting(statuses: [500])) == .limitExceeded)
        #expect(try await code(.string, validates: false) == .limitExceeded)
    }

    @Test func `a body that breaks off is an error, and trailers come with one that ends`() async throws {
        let mock = try Mocked()
        let broken = NetworkError(.connectionClosed, "the response ended too soon")
        mock.transport.on(.get, "/").reply(.stream(["some"], failing: broken))
            .reply(.stream(["a", "b", "c"], trailers: ["X-Sum": "3"]))
        let error = try await networkError { _ = try await mock.session.get("/", as: .bytes) }
        #expect(error?.code == .connectionClosed)
        let response = try await mock.session.get("/", as: .string)
        #expect(response.value == "abc")
        #expect(response.trailers["x-sum"] == "3")
    }

    @MainActor @Test(.rows("G-1", "HS-23", "AP-14")) func `a caller on the main actor stays there`() async throws {
        let mock = try Mocked()
        mock.transport.on(.get, "/").respond(json: User(id: 1, name: "Ada"))
        var users: [User] = []
        users.append(try await mock.session.get("/", as: User.self))
        MainActor.assertIsolated()
        #expect(users.count == 1)
    }
}
