import Children
import Dunlin
import DunlinTesting
import Folders
import Testing

/// What the real `curl` does with the commands that requests are said as.
@Suite(.enabled(if: Curl.isInstalled, Curl.absence), .timeLimit(.minutes(10)))
struct `Commands for curl` {
    struct Sample: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var method = HTTP.Method.get
        var target: HTTP.Target = "/a"
        var query = HTTP.Query()
        var fields = Fields()
        var body = RequestBody.none
        /// What is given on standard input.
        var input: Bytes = .empty

        init(
            _ name: String, _ method: HTTP.Method = .get, _ target: HTTP.Target = "/a", query: HTTP.Query = .init(),
            fields: Fields = [:], body: RequestBody = .none, input: Bytes = .empty
        ) {
            (testDescription, self.method, self.target, self.query) = (name, method, target, query)
            (self.fields, self.body, self.input) = (fields, body, input)
        }
    }

    private static let allBytes = Bytes(Array(0...255 as ClosedRange<UInt8>))

    static let samples: [Sample] = [
        Sample("a GET"),
        Sample("a query", .get, "/find", query: ["q": "it's 100% [a] {b} $HOME `id` \"c\" \\d", "empty": ""]),
        Sample("fields", fields: ["X-Quote": "it's \"quoted\" $HOME `id` \\n", "X-Empty": "", "X-Set": "a, b"]),
        Sample("a token", fields: ["Authorization": "Bearer it's-secret", "Cookie": "a=1; b=2"]),
        Sample("no head fields of its own", fields: ["User-Agent": "", "Accept": ""]),
        Sample("a HEAD", .head),
        Sample("a DELETE", .delete),
        Sample("a method of one's own", HTTP.Method("PURGE")),
        Sample("OPTIONS", .options),
        Sample("a POST without a body", .post),
        Sample("a PUT without a body", .put),
        Sample("a POST of JSON", .post, body: .string(#"{"name":"O'Neill","n":1}"#, contentType: "application/json")),
        Sample("text that begins like a file", .post, body: .string("@/etc/hostname")),
        Sample("text of several lines", .put, body: .string("one\ntwo\n\n'three'\n")),
        Sample("text with controls", .post, body: .string("%d \\n \r\n\u{1B}[31m -")),
        Sample("other alphabets", .patch, body: .string("naïve 北京 🦆")),
        Sample("an empty body", .post, body: .string("")),
        Sample("a body without a type", .post, body: .bytes("a=1", contentType: nil)),
        Sample("a form", .post, body: .string("a=1&b=%26", contentType: "application/x-www-form-urlencoded")),
        Sample("every byte", .post, body: .bytes(allBytes)),
        Sample("bytes that begin with a dash", .post, body: .bytes("-n\u{0}")),
        Sample("a GET with a body", .get, body: .string("why not")),
        Sample("a stream", .put, body: .replayable(length: 3) { Chunks() }, input: "abc"),
        Sample("expecting consent", .post, fields: ["Expect": "100-continue"], body: .string("x")),
    ]

    private struct Chunks: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            var isOver = false

            mutating func next() async throws -> Bytes? {
                defer { isOver = true }
                return isOver ? nil : "abc"
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    /// What the server saw, but for the order of the fields, which is curl's own.
    private static func seen(_ request: LoopbackServer.RecordedRequest) -> [String] {
        let fields = request.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        return ["\(request.method) \(request.target) \(request.version)"] + fields + [request.body.hex]
    }

    @Test(arguments: samples) func `curl sends what the session sent`(sample: Sample) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(body: "by Dunlin"), .response(body: "by curl"))
        try await withSession(.init(baseURL: server.baseURL)) { session in
            let task = try session.task(
                sample.target, method: sample.method, query: sample.query, fields: sample.fields, body: sample.body,
                as: .bytes)
            let before = task.curl(showingSecrets: true)
            _ = try await task.value
            let command = task.curl(showingSecrets: true)
            #expect(before == command)
            let said = try await Curl.run(command, input: sample.input)
            if sample.method != .head { #expect(said.contains("by curl"), "\(command)\n\(said)") }
            #expect(server.requests.count == 2)
            if server.requests.count == 2 {
                #expect(Self.seen(server.requests[0]) == Self.seen(server.requests[1]), "\(command)")
            }
            #expect(server.failures.isEmpty)
        }
    }

    @Test(arguments: [nil, 1..<4]) func `curl sends the file that the session sent`(range: Range<Int>?) async throws {
        let folder = try Folder()
        let path = try folder.write("abcdef", as: "it's a file.txt")
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(body: "a"), .response(body: "b"))
        try await withSession(.init(baseURL: server.baseURL)) { session in
            let body = RequestBody(.file(.init(path, range: range)), contentType: "text/plain")
            let task = try session.task("/f", method: .put, body: body, as: .bytes)
            _ = try await task.value
            _ = try await Curl.run(task.curl())
            try #require(server.requests.count == 2)
            #expect(Self.seen(server.requests[0]) == Self.seen(server.requests[1]))
        }
    }

    /// What stages and redirects add is in it.
    @Test func `the command has the fields that were sent last, and where to connect`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(
            .response(fields: ["Set-Cookie": "id=hunter2"], body: ""), .response(body: ""), .response(body: ""))
        let port = server.baseURL.split(separator: ":").last ?? ""
        var configuration = HTTPSession.Configuration(baseURL: "http://api.test:\(port)")
        configuration.cookies = CookieJar()
        configuration.hostOverrides = ["api.test": .v4(0x7F00_0001, port: 0)]
        configuration.authentication = .bearer { _ in .init("hunter3") }
        try await withSession(configuration) { session in
            _ = try await session.get("/login", as: .bytes)
            let task = try session.task("/a", as: .bytes)
            _ = try await task.value
            let shown = task.curl()
            #expect(!shown.contains("hunter"), "\(shown)")
            #expect(shown.contains("-H 'Cookie: <redacted>'"), "\(shown)")
            #expect(shown.contains("--resolve api.test:\(port):127.0.0.1"), "\(shown)")
            _ = try await Curl.run(task.curl(showingSecrets: true))
            try #require(server.requests.count == 3)
            #expect(Self.seen(server.requests[1]) == Self.seen(server.requests[2]))
            #expect(server.requests[2].fields["cookie"] == "id=hunter2")
            #expect(server.requests[2].fields["authorization"] == "Bearer hunter3")
        }
    }

    @Test func `curl trusts the authority that the session trusts, and nobody else`() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1"))))
        defer { server.stop() }
        let folder = try Folder()
        let path = try folder.write(authority.pem, as: "roots.pem")
        server.enqueue(.response(body: "a"), .response(body: "b"), .response(body: "c"))
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.tls.roots = .only([.file(path)])
        try await withSession(configuration) { session in
            let task = try session.task("/", as: .bytes)
            _ = try await task.value
            #expect(try await Curl.run(task.curl()).contains("b"))
            #expect(!task.curl().contains("--insecure"))
        }
        try await withSession(.init(baseURL: server.baseURL)) { session in
            let command = try session.task("/", as: .bytes).curl()
            await #expect(throws: Child.Failure.self) { try await Curl.run(command) }
        }
    }

    @Test func `the command of an error has the body, whoever observes the request`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(
            .response(422, body: "no"), .response(body: "yes"), .response(422, body: "no"), .response(body: "yes"))
        try await withSession(.init(baseURL: server.baseURL)) { session in
            var observed = HTTPSession.Options()
            observed.hooks.completed = { _ in }
            for options in [HTTPSession.Options(), observed] {
                let error = try await NetworkError.thrown {
                    try await session.post(
                        "/a", query: ["token": "hunter2"],
                        body: .string(#"{"password":"hunter2","n":1}"#, contentType: "application/json"),
                        options: options, as: .bytes)
                }
                let shown = try #require(error.curl())
                #expect(!shown.contains("hunter2"))
                #expect(shown.contains("The body, of length 28,"), "\(shown)")
                let said = try await Curl.run(try #require(error.curl(showingSecrets: true)))
                #expect(said.contains("yes"))
            }
            try #require(server.requests.count == 4)
            for pair in [(0, 1), (2, 3)] {
                #expect(Self.seen(server.requests[pair.0]) == Self.seen(server.requests[pair.1]))
            }
        }
    }
}
