import Dunlin
import DunlinTesting
import Mocking
import Testing

/// What a session says of all its responses, and what people see of them.
@Suite(.timeLimit(.minutes(10))) struct `Content of a session` {
    private func mocked(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> Mocked {
        try Mocked("http://api.test/v1/", change)
    }

    @Test(arguments: [false, true])
    func `content types and statuses are accepted for a whole session`(isObserved: Bool) async throws {
        let mock = try mocked {
            $0.acceptedContentTypes = ["text/html", "text/x-*"]
            $0.acceptedStatuses = [404]
            if isObserved { $0.hooks.completed = { _ in } }
        }
        mock.transport.on(.get, "/v1/a").respond(404, fields: ["Content-Type": "text/html; charset=utf-8"], body: "1")
            .always()
        #expect(try await mock.session.get("a", as: Int.self) == 1)
        #expect(try await mock.session.get("a", as: .bytes).value == "1")
        mock.transport.on(.get, "/v1/b").respond(500, fields: ["Content-Type": "image/png"], body: "1")
        let error = try await networkError { _ = try await mock.session.get("b", as: Int.self) }
        #expect(error?.code == .unacceptableStatus && error?.underlying != nil)
        let strict = JSONSerializer(Int.self).with(rules: .init(statuses: [201], contentTypes: ["a/b"]))
        #expect(try await mock.session.get("a", as: strict).value == 1)
    }

    @Test func `lines, events and values of a refused response are errors, its body is not`() async throws {
        let mock = try mocked()
        mock.transport.on(.get, "/v1/a").respond(503, body: #"{"error":"busy"}"#).always()
        func first<Views: AsyncSequence & Sendable>(
            _ options: HTTPSession.Options = .init(), _ view: (HTTPSession.StreamedResponse) -> Views
        ) async throws -> NetworkError? {
            try await networkError {
                try await mock.session.withResponse(from: "a", options: options) { response in
                    var views = view(response).makeAsyncIterator()
                    _ = try await views.next()
                }
            }
        }
        let errors = [
            try await first { $0.lines }, try await first { $0.events }, try await first { $0.values(of: Int.self) },
        ]
        for error in errors {
            #expect(error?.code == .unacceptableStatus && error?.body == #"{"error":"busy"}"#)
            #expect(error?.description == "GET http://api.test/v1/a: 503 Service Unavailable: {\"error\":\"busy\"}")
        }
        #expect(try await first { $0.body } == nil)
        let unchecked = HTTPSession.Options(validatesResponse: false)
        #expect(try await first(unchecked) { $0.lines } == nil)
    }

    @Test func `a refused stream does not wait for a body without an end, nor for one that breaks off`() async throws {
        let mock = try mocked { $0.showsRefusedBodies = false }
        mock.transport.on(.get, "/v1/a").stream(["busy", "more"], fields: ["Content-Type": "text/plain"]).always()
        mock.transport.on(.get, "/v1/b").respond(503, body: #"{"error":"busy"}"#).always()
        let endless = try await networkError {
            try await mock.session.withResponse(from: "a") { for try await _ in $0.events {} }
        }
        #expect(endless?.code == .unacceptableContentType && endless?.body == "busy")
        let hidden = try await networkError {
            try await mock.session.withResponse(from: "b") { for try await _ in $0.lines {} }
        }
        #expect(hidden?.description == "GET http://api.test/v1/b: 503 Service Unavailable" && hidden?.bodyText == nil)
        let options = HTTPSession.Options(errorBodyLimit: 2)
        let short = try await networkError {
            try await mock.session.withResponse(from: "b", options: options) { for try await _ in $0.lines {} }
        }
        #expect(short?.body == "{\"")
    }

    @Test func `errors of single lines and values name their request`() async throws {
        let mock = try mocked()
        mock.transport.on(.get, "/v1/a").respond(body: "{}\n123456789\n").always()
        let long = try await networkError {
            try await mock.session.withResponse(from: "a") { for try await _ in $0.lines(limit: 4) {} }
        }
        #expect(long?.code == .limitExceeded && long?.request?.url == "http://api.test/v1/a")
        let wrong = try await networkError {
            try await mock.session.withResponse(from: "a") { for try await _ in $0.values(of: Int.self) {} }
        }
        #expect(wrong?.code == .decodingFailed && wrong?.request?.url == "http://api.test/v1/a")
    }

    @Test(arguments: [
        ("https://h/x?access_token=hunter2&q=a b", "GET https://h/x?access_token=***&q=a b: "),
        ("http://api.test/x#access_token=hunter2&a=1", "GET http://api.test/x#access_token=***&a=1: "),
        ("http://api.test/x?token=\u{301}hunter2", "GET http://api.test/x?token=***: "),
    ])
    func `a secret in a URL is not shown by any part of an error`(url: String, beginning: String) async throws {
        let mock = try mocked()
        mock.transport.otherwise { _ in .fail(.connectionReset) }
        let error = try #require(try await networkError { _ = try await mock.session.get(url: url) })
        #expect(error.description.hasPrefix(beginning) && !error.description.contains("hunter2"))
    }

    @Test(arguments: [("text/event-stream; charset=utf-8", true), ("text/html", false), (nil, true)])
    func `events come in a stream of events only`(type: String?, isTaken: Bool) async throws {
        let mock = try mocked { $0.json = .snakeCase }
        var fields = Fields()
        fields["Content-Type"] = type
        mock.transport.on(.get, "/v1/a").respond(fields: fields, body: "data: {\"first_name\":\"Ada\"}\n\n")
        struct Named: Decodable { var firstName: String }
        var names: [String] = []
        let error = try await networkError {
            try await mock.session.withResponse(from: "a") { response in
                for try await event in response.events {
                    names.append(try event.json(Named.self).firstName)
                    #expect(event == ServerSentEvent(data: event.data))
                }
            }
        }
        #expect(error?.code == (isTaken ? nil : .unacceptableContentType) && names == (isTaken ? ["Ada"] : []))
    }

    @Test func `links lead through pages`() async throws {
        let mock = try mocked()
        mock.transport.on(.get, "/v1/items").respond(
            fields: [
                "Link": "<?page=2>; rel=\"next\", </v1/items?page=9>; title=\"the, last\"; rel=last;rel=first",
                "link": "<https://other.test/x>; rel=\"prev NEXT\"; anchor=\"#part\", <bad url>;rel=bad, nonsense",
            ], body: "[]"
        ).always()
        let response = try await mock.session.get("items")
        #expect(response.links["next"] == .url("http://api.test/v1/items?page=2"))
        #expect(response.links["LAST"]?.text == "http://api.test/v1/items?page=9")
        #expect(response.links.all.map(\.title) == [nil, "the, last"])
        #expect(response.links["first"] == nil && response.links["prev"] == nil && response.links["bad"] == nil)
        let streamed = try await mock.session.stream("items")
        #expect(streamed.links == response.links)
    }

    @Test func `a response, an error and a dynamic value show what a person wants to see`() async throws {
        let mock = try mocked()
        mock.transport.on(.get, "/v1/a").respond(json: ["token": "hunter2", "name": "Ada"]).always()
        let response = try await mock.session.get("a", as: .json(DynamicValue.self))
        let shown = "\(response)"
        #expect(shown.hasPrefix("200 OK http://api.test/v1/a (application/json, "))
        #expect(!shown.contains("Ada") && !shown.contains("hunter2"))
        let secret = try await mock.session.get("a?api_key=hunter2")
        #expect("\(secret)".hasPrefix("200 OK http://api.test/v1/a?api_key=*** ("))
        let streamed = try await mock.session.stream("a")
        #expect("\(streamed)" == "200 OK http://api.test/v1/a (application/json)")
        let value: DynamicValue = ["a": [1, "x", nil], "n": .number(.init(Double.nan)), "s": .set([1])]
        #expect(String(reflecting: value) == #"{"a":[1,"x",null],"n":"nan","s":[1]}"#)
    }
}
