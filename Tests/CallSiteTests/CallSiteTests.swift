import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import Testing

/// What users are shown, word for word, in a module whose code belongs to the main actor.
@Suite(.timeLimit(.minutes(10)))
struct `Call sites of requests` {
    let transport = MockTransport()

    private func client() throws -> HTTPSession {
        try HTTPSession(.init(baseURL: "http://api.test/", transport: transport))
    }

    private var sent: [String] {
        transport.requests.map { "\($0.method) \($0.target) \(String($0.body))" }
    }

    @Test func `get returns a value decoded from JSON, with or without its response`() async throws {
        let client = try client()
        transport.otherwise { _ in .respond(json: User(id: 42, name: "Ada")) }
        let user = try await client.get("users/42", as: User.self)
        let full = try await client.get(
            "users/42", query: ["expand": "team"], as: .json(User.self))
        print(full.value.name, full.fields["ETag"] ?? "no tag")
        #expect(user == full.value && user.id == 42)
        #expect(sent == ["GET /users/42 ", "GET /users/42?expand=team "])
    }

    @Test func `an interpolated value is escaped in the target`() async throws {
        let client = try client()
        transport.otherwise { _ in .respond(json: [Post(title: "x")]) }
        let name = "../admin?x"
        let posts = try await client.get(
            "users/\(name)/posts", as: [Post].self)
        #expect(posts.count == 1 && sent == ["GET /users/..%2Fadmin%3Fx/posts "])
    }

    @Test func `a body is sent as JSON`() async throws {
        let client = try client()
        let draft = Draft()
        transport.otherwise { _ in .respond(json: User(id: 1, name: "Ada")) }
        let created = try await client.post(
            "users", body: .json(draft), as: User.self)
        let tagged = try await client.patch(
            "users/42", body: .json(["tags": ["new", 7, nil]]),
            as: User.self)
        #expect(created == tagged)
        #expect(sent == [#"POST /users {"name":"Ada","tags":["new"]}"#, #"PATCH /users/42 {"tags":["new",7,null]}"#])
    }

    @Test func `a form is sent as it is written, and a value as its pairs`() async throws {
        let client = try client()
        let draft = Draft()
        transport.on(.post, "/oauth/token").respond(json: Token(token: "t"))
        transport.otherwise { _ in .respond(json: User(id: 1, name: "Ada")) }
        let token = try await client.post(
            "oauth/token",
            body: .form([
                "grant_type": "client_credentials",
                "scope": "read", "scope": "write",
            ]),
            as: Token.self)
        let saved = try await client.post(
            "users", body: .form(encoding: draft), as: User.self)
        #expect(token.token == "t" && saved.id == 1)
        #expect(
            sent == [
                "POST /oauth/token grant_type=client_credentials&scope=read&scope=write",
                "POST /users name=Ada&tags%5B%5D=new",
            ])
        #expect(transport.requests.allSatisfy { $0.fields["Content-Type"] == "application/x-www-form-urlencoded" })
        try await client.post("x", body: .form(["q": "a b+c"]))
        #expect(sent.last == "POST /x q=a%20b%2Bc")
        let refused = #expect(throws: NetworkError.self) { try RequestBody.form(encoding: ["x": Double.nan]) }
        #expect(refused?.code == .invalidParameters)
    }

    @Test func `the request serializer decides where parameters go`() async throws {
        let client = try client()
        let draft = Draft()
        transport.on(.get, "/search").respond(json: [Post(title: "x")])
        transport.otherwise { _ in .respond(json: User(id: 1, name: "Ada")) }
        let found = try await client.get(
            "search",
            parameters: ["q": "waders", "page": 2, "tags": ["new"]],
            as: [Post].self)
        let saved = try await client.post(
            "users", parameters: .encoding(draft), using: .json,
            as: User.self)
        _ = try await client.delete(
            "items", parameters: ["id": [3, 4]], in: .body, as: .bytes)
        #expect(found.count == 1 && saved.id == 1)
        #expect(
            sent == [
                "GET /search?page=2&q=waders&tags%5B%5D=new ", #"POST /users {"name":"Ada","tags":["new"]}"#,
                "DELETE /items id%5B%5D=3&id%5B%5D=4",
            ])
    }

    @Test func `a session's serializer decides how parameters are written`() async throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test/", transport: transport)
        configuration.requestSerializer = .form(
            .init(arrays: .repeatedKey, bools: .words, nulls: .dropped))
        let client = try HTTPSession(configuration)
        transport.otherwise { _ in .respond() }
        _ = try await client.get("x", parameters: ["tags": ["a", "b"], "new": true, "old": nil], as: .bytes)
        #expect(sent == ["GET /x?new=true&tags=a&tags=b "])
    }

    @Test func `an upload's progress reaches 1 on the main actor`() async throws {
        let client = try client()
        let folder = try Folder()
        let photos = try (1...2).map { index in
            let bytes = [UInt8](repeating: UInt8(index), count: 100_000)
            return URL(filePath: try folder.write(bytes, as: "photo-\(index).jpg"))
        }
        transport.otherwise { _ in .respond(json: Receipt(parts: 3)) }
        var bar = 0.0
        let album = try RequestBody.multipart {
            MultipartPart.field("title", "Waders")
            for photo in photos {
                MultipartPart.file("photo", at: photo, contentType: .jpeg)
            }
        }
        let receipt = try await client.withUpload(
            to: "albums/7", body: album, as: .json(Receipt.self)
        ) { upload in
            for await step in upload.uploadProgress {
                bar = step.fraction ?? 0
            }
            return try await upload.value
        }
        #expect(receipt == Receipt(parts: 3) && bar == 1)
        #expect(transport.requests.first?.body.count ?? 0 > 200_000)
    }

    @Test func `parts of a form have file names and types`() async throws {
        let (client, png, path) = (try client(), Data("png".utf8), "/etc/hostname")
        transport.otherwise { _ in .respond() }
        let form = try RequestBody.multipart {
            MultipartPart.field("title", "Waders")
            MultipartPart.data(
                "photo", Bytes(png), fileName: "dunlin.png",
                contentType: .png)
            MultipartPart.file("notes", at: path, fileName: "notes.txt")
        }
        try await client.post("albums/7", body: form)
        let body = String(try #require(transport.requests.first).body)
        #expect(body.contains(#"name="photo"; filename="dunlin.png""#) && body.contains("Content-Type: image/png"))
        #expect(body.contains(#"name="notes"; filename="notes.txt""#) && body.contains("Content-Type: text/plain"))
    }

    @Test func `a file or a sequence is sent as the body`() async throws {
        let client = try client()
        let folder = try Folder()
        let cover = try folder.write("jpeg", as: "cover.jpg")
        let chunks = AsyncThrowingStream<Bytes, any Error> { stream in
            for piece: Bytes in ["one\n", "two\n"] { stream.yield(piece) }
            stream.finish()
        }
        transport.otherwise { _ in .respond(body: "thanks") }
        let stored = try await client.put(
            "albums/7/cover", body: .file(cover), timeout: .seconds(1800),
            as: .string)
        let sent = try await client.put(
            "log", body: .stream(chunks, length: nil), as: .string)
        #expect(stored.value == "thanks" && sent.value == "thanks")
        #expect(self.sent == ["PUT /albums/7/cover jpeg", "PUT /log one\ntwo\n"])
        #expect(transport.requests[0].timeouts.total == .seconds(1800))
        let (unfailing, end) = AsyncStream<Bytes>.makeStream()
        end.yield("three")
        end.finish()
        try await client.put("log", body: .stream(unfailing, length: 5))
        #expect(self.sent.last == "PUT /log three")
        let missing = await #expect(throws: NetworkError.self) { try await client.put("x", body: .file("\(cover)x")) }
        #expect(missing?.code == .fileUnreadable && missing?.requestMayHaveBeenSent == false)
    }

    @Test func `a streamed body's events can be read on the main actor as they arrive`() async throws {
        nonisolated struct Delta: Decodable {
            var text: String
        }
        let client = try client()
        let prompt = Prompt(text: "hi")
        var text = ""
        let body: Bytes = "event: delta\ndata: {\"text\":\"hel\"}\n\n: no\n\nevent: delta\ndata: {\"text\":\"lo\"}\n\n"
        transport.otherwise { _ in .respond(fields: ["Content-Type": "text/event-stream"], body: body) }
        try await client.withResponse(
            from: "v1/chat", method: .post, json: prompt
        ) { response in
            for try await event in response.events
            where event.name == "delta" {
                text += try event.json(Delta.self).text
            }
        }
        #expect(text == "hello" && sent == [#"POST /v1/chat {"text":"hi"}"#])
        #expect(throws: DecodingError.self) { try ServerSentEvent(data: "[DONE]").json(Delta.self) }
    }

    @Test func `events are read in the session's way of JSON, or another`() async throws {
        nonisolated struct Delta: Decodable {
            var newText: String
        }
        let transport = transport
        let client = try HTTPSession(baseURL: "http://api.test/") {
            $0.transport = transport
            $0.json = .snakeCase
        }
        let body: Bytes = "data: {\"new_text\":\"a\"}\n\n"
        transport.otherwise { _ in .respond(fields: ["Content-Type": "text/event-stream"], body: body) }
        try await client.withResponse(from: "x") { response in
            for try await event in response.events {
                #expect(try event.json(Delta.self).newText == "a")
                #expect(throws: DecodingError.self) { try event.json(Delta.self, .standard) }
            }
        }
    }

    @Test func `a streamed body can be read as lines, and as values of JSON`() async throws {
        let client = try client()
        transport.on(.get, "/log").respond(body: "one\ntwo\n")
        transport.on(.get, "/posts").respond(body: #"{"title":"a"}\#n{"title":"b"}\#n"#)
        transport.otherwise { _ in .respond(.notFound, body: "none") }
        var (lines, posts): ([String], [Post]) = ([], [])
        try await client.withResponse(
            from: "log", query: ["since": 7]
        ) { response in
            for try await line in response.lines { lines.append(line) }
        }
        try await client.withResponse(from: "posts") { response in
            for try await post in response.values(of: Post.self) {
                posts.append(post)
            }
        }
        #expect(lines == ["one", "two"] && posts.map(\.title) == ["a", "b"])
        #expect(sent == ["GET /log?since=7 ", "GET /posts "])
        let refused = await #expect(throws: NetworkError.self) {
            try await client.withResponse(from: "x") { response in for try await _ in response.lines {} }
        }
        #expect(refused?.code == .unacceptableStatus)
        var read = 0
        let again = await #expect(throws: NetworkError.self) {
            try await client.withResponse(from: "x") { response in
                for try await piece in response.body { read += piece.count }
                for try await _ in response.body {}
            }
        }
        #expect(read == 4 && again?.code == .bodyConsumed)
    }

    @Test func `a stream without an end has no limit of silence, and says where it was`() async throws {
        let client = try client()
        var last = "41"
        let body: Bytes = "id: 42\ndata: x\n\nid: 43\ndata: cut short"
        transport.otherwise { _ in .respond(fields: ["Content-Type": "text/event-stream"], body: body) }
        let options = HTTPSession.Options(
            timeouts: .init(readIdle: .none, total: .none))
        try await client.withResponse(
            from: "v1/news", fields: ["Last-Event-ID": last],
            options: options
        ) { response in
            for try await event in response.events { last = event.id }
        }
        let request = try #require(transport.requests.first)
        #expect(last == "42" && request.fields["Last-Event-ID"] == "41")
        #expect(request.timeouts.readIdle == nil && request.timeouts.total == nil)
    }

    @Test func `a streamed request sends its parameters in the query`() async throws {
        let client = try client()
        transport.otherwise { _ in .respond(body: "one\ntwo\n") }
        var lines: [String] = []
        try await client.withResponse(from: "log", parameters: ["since": 7]) { response in
            for try await line in response.lines { lines.append(line) }
        }
        #expect(lines == ["one", "two"] && sent == ["GET /log?since=7 "])
    }

    @Test func `a stream's head comes first, and its body can be read later`() async throws {
        let client = try client()
        transport.otherwise { _ in .respond(.created, body: "frames") }
        func handle() async throws -> Reply {
            let response = try await client.stream("videos/7")
            return Reply(status: response.status.code, body: response.body)
        }
        let reply = try await handle()
        var body: [UInt8] = []
        for try await piece in reply.body { body += piece }
        #expect(reply.status == 201 && body == Array("frames".utf8))
    }

    @Test func `a resumable download writes the whole file and its progress reaches 1`() async throws {
        let server = try LoopbackServer()
        server.serve(.init(length: 300_000, tag: "\"v1\""), at: "/images/disk.img")
        let client = try HTTPSession(.init(baseURL: server.baseURL))
        let bar = Bar()
        let folder = try Folder()
        let file = try await client.download(
            "images/disk.img", to: .file("\(folder.path)/disk.img"), resuming: .ifValidatorMatches
        ) { step in
            await bar.set(step.fraction ?? 0)
        }
        print(file.value.path, file.value.byteCount)
        #expect(file.value.byteCount == 300_000)
        #expect(bar.value == 1)
        await client.shutdown()
    }

    @Test func `a request's own policy decides how it is retried`() async throws {
        let client = try client()
        transport.on(.get, "/flaky").fail(.connectionRefused).thenRespond(.serviceUnavailable).thenRespond(body: "fit")
        let options = HTTPSession.Options(
            retry: .exponential(
                attempts: 4,
                when: [
                    .connectionFailure, .status(.serviceUnavailable),
                    .status(.tooManyRequests),
                ],
                budget: .ratio(0.1)))
        let text = try await client.get("flaky", options: options, as: .string)
        print(text.retries.map(\.cause), text.retries.map(\.wait))
        #expect(text.value == "fit" && text.retries.count == 2)
    }

    @Test func `a mock transport and a manual clock replace the network and the waiting in a test`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/x").fail(.connectionReset).thenRespond(body: "fit")
        let clock = ManualClock()
        var configuration = HTTPSession.Configuration(
            baseURL: "http://api.test", retry: .exponential(attempts: 2),
            transport: transport)
        try configuration.use(clock)
        configuration.use(SeededGenerator(seed: 1))
        let client = try HTTPSession(configuration)
        let text = try await clock.skippingWaits {
            try await client.get("x", as: .string)
        }
        #expect(text.value == "fit" && clock.now.offset == text.retries.reduce(.zero) { $0 + $1.wait })
    }

    @Test func `a mock transport replaces a server`() async throws {
        let transport = MockTransport()
        transport.on(.get, "/users/42")
            .respond(json: User(id: 42, name: "Ada"))
        let client = try HTTPSession(
            .init(baseURL: "http://api.test", transport: transport))
        let user = try await client.get("users/42", as: User.self)
        try transport.verify()
        #expect(user.name == "Ada")
    }
}
