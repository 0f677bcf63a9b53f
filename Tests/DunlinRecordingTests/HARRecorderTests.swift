import Dunlin
import DunlinTesting
import Folders
import Testing

@testable import DunlinRecording

@Suite(.timeLimit(.minutes(10))) struct `A recorder of archives` {
    /// `some text, some text`, by gzip.
    private static let coded = Bytes([
        0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2B, 0xCE, 0xCF, 0x4D, 0x55, 0x28, 0x49, 0xAD,
        0x28, 0xD1, 0x51, 0x28, 0x86, 0x31, 0x01, 0xF4, 0xBA, 0x34, 0xEA, 0x14, 0x00, 0x00, 0x00,
    ])

    private static func with(
        _ settings: HARRecorder.Settings = .init(bodyLimit: 1 << 20),
        _ configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (LoopbackServer, HTTPSession) async throws -> Void
    ) async throws -> HAR {
        let (folder, server) = (try Folder(with: "a"), try LoopbackServer())
        defer { server.stop() }
        let recorder = try HARRecorder("\(folder.path)/a.har", settings)
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.observers.append(recorder)
        configure(&configuration)
        let client = try HTTPSession(configuration)
        try await play(server, client)
        await client.shutdown()
        try await recorder.finish()
        return try HAR(contentsOf: "\(folder.path)/a.har")
    }

    @Test func `an entry has the heads, bodies, times and sizes of an exchange`() async throws {
        let har = try await Self.with { server, client in
            server.respond { _ in .response(201, fields: ["Content-Type": "text/plain"], body: "hello") }
            _ = try await client.post("users?page=2", body: .form(["name": "Ada Lovelace"]), as: .string)
        }
        #expect(har.creator == .dunlin && har.lost == nil && !har.wasTorn)
        let entry = try #require(har.entries.first)
        #expect(har.entries.count == 1)
        #expect(entry.request.method == "POST")
        #expect(entry.request.url.hasSuffix("/users?page=2"))
        #expect(entry.request.queryString == [HAR.NameValue("page", "2")])
        #expect(entry.request.headers.first?.name == "Host")
        #expect(entry.request.postData?.mimeType.hasPrefix("application/x-www-form-urlencoded") == true)
        #expect(entry.request.postData?.params == [HAR.Parameter("name", "Ada Lovelace")])
        #expect(entry.request.bodySize == entry.request.postData?.text?.utf8.count)
        #expect(entry.response.status == 201 && entry.response.statusText == "Created")
        #expect(entry.response.content.text == "hello" && entry.response.content.size == 5)
        #expect(entry.response.content.mimeType == "text/plain")
        #expect(entry.connection != nil && entry.serverIPAddress == "127.0.0.1")
        #expect(entry.exchange == 1 && entry.attempt == 1 && entry.fromCache == nil)
        #expect(entry.timings.total == entry.time && entry.time > 0)
        #expect(entry.timings.ssl == -1 && (entry.timings.connect ?? 0) > 0)
    }

    @Test func `each hop is an entry: redirects, retries and answers of the cache`() async throws {
        let har = try await Self.with(.init(bodyLimit: 100)) { configuration in
            configuration.retry = .exponential(attempts: 2, base: .milliseconds(1))
            configuration.cache = HTTPSession.Cache(.small)
        } _: { server, client in
            server.enqueue(.response(302, fields: ["Location": "/b"]))
            server.enqueue(.response(200, fields: ["Cache-Control": "max-age=60"], body: "b"))
            server.enqueue(.response(503))
            server.enqueue(.response(body: "c"))
            _ = try await client.get("a", as: .string)
            _ = try await client.get("b", as: .string)
            _ = try await client.get("c", as: .string)
        }
        #expect(har.entries.map(\.response.status) == [302, 200, 200, 503, 200])
        #expect(har.entries.map(\.fromCache) == [nil, nil, "memory", nil, nil])
        #expect(har.entries.map(\.exchange) == [1, 2, nil, 1, 2])
        #expect(har.entries.map(\.attempt) == [1, 1, nil, 1, 2])
        #expect(Set(har.entries.map(\.requestID)).count == 3)
        #expect(har.entries[0].response.redirectURL == "/b")
        #expect(har.entries[2].response.content.text == "b")
    }

    @Test func `failures are entries, with their codes`() async throws {
        let har = try await Self.with { server, client in
            server.enqueue(.response(body: "x").resetAfter(0))
            server.enqueue(.response(body: Bytes(repeatElement(0x61, count: 1000))).truncatedAfter(300))
            for _ in 0..<2 { _ = try? await client.get("a", as: .string) }
        }
        #expect(har.entries.map(\.response.status) == [0, 200])
        #expect(har.entries.allSatisfy { $0.response.error?.isEmpty == false })
        #expect((1..<1000).contains(har.entries[1].response.content.text?.count ?? 0))
    }

    @Test func `secrets are left out wherever they stand`() async throws {
        let secret = "pl4nted-s3cret"
        let har = try await Self.with { configuration in
            configuration.secretFields = ["X-Own"]
            configuration.redirects = .never
            configuration.interceptors = [
                .exchange { request, next in
                    try await next(request) { $0.head.fields.append(name: "X-Own", value: secret) }
                }
            ]
        } _: { server, client in
            server.respond { _ in
                .response(
                    302,
                    fields: [
                        "Location": "https://ada:\(secret)@b.test/?access_token=\(secret)",
                        "Set-Cookie": "id=\(secret); HttpOnly", "Content-Type": "application/json",
                        "Link": "<https://b.test/?token=\(secret)>; rel=next",
                    ],
                    body: """
                        {"access_token": "\(secret)", "nested": {"password": ["\(secret)"]}, "page": 3,
                        "pairs": [{"name": "password", "value": "\(secret)"}],
                        "next": "https://b.test/?token=\(secret)"}
                        """)
            }
            let fields: Fields = [
                "Authorization": "Bearer \(secret)", "Cookie": "id=\(secret)",
                "Referer": "https://a.test/?token=\(secret)",
            ]
            var options = HTTPSession.Options(fields: fields)
            options.validatesResponse = false
            _ = try await client.post(
                "a?token=\(secret)&page=2", body: .form(["password": .string(secret), "name": "ada"]),
                options: options, as: .string)
            _ = try await client.post(
                "b", body: .string("{\"client_secret\": \"\(secret)\", \"n\": 1.50}", contentType: "application/json"),
                options: options, as: .string)
        }
        let text = String(try har.text)
        #expect(!text.contains(secret))
        #expect(har.entries[0].request.url.hasSuffix("/a?token=***&page=2"))
        #expect(har.entries[0].request.postData?.params?.contains(HAR.Parameter("name", "ada")) == true)
        #expect(har.entries[0].response.redirectURL?.contains("b.test") == true)
        #expect(
            har.entries[0].response.cookies == [
                {
                    var cookie = HAR.Cookie("id", "***")
                    (cookie.httpOnly, cookie.secure) = (true, false)
                    return cookie
                }()
            ])
        #expect(har.entries[0].response.content.text?.contains("\"page\":3") == true)
        #expect(har.entries[1].request.postData?.text == #"{"client_secret":"***","n":1.50}"#)
    }

    @Test func `a cookie without a name, a media type and a redirect's target hold no secret`() async throws {
        let secret = "pl4nted"
        let har = try await Self.with {
            $0.redirects = .never
        } _: { server, client in
            server.respond { _ in
                let location = "/b?a={\"password\":\"\(secret)\"}"
                let fields: Fields = ["Content-Type": "a/b; token=\(secret)", "Location": location]
                return .response(302, fields: fields, body: "x")
            }
            var options = HTTPSession.Options(fields: ["Cookie": "\(secret); a=1"])
            options.validatesResponse = false
            let body = RequestBody.string("x", contentType: "text/plain; charset=utf-8; token=\(secret)")
            _ = try await client.post("a", body: body, options: options, as: .string)
        }
        let entry = try #require(har.entries.first)
        #expect(try !String(har.text).contains(secret))
        #expect(entry.request.cookies == [HAR.Cookie("", "***"), HAR.Cookie("a", "***")])
        #expect(entry.request.postData?.mimeType == "text/plain; charset=utf-8; token=***")
        #expect(entry.request.postData?.text == "x" && entry.response.content.mimeType == "a/b; token=***")
    }

    @Test func `bodies are text without codings, base64, cut or left out, as asked`() async throws {
        func play(_ server: LoopbackServer, _ client: HTTPSession) async throws {
            server.respond { request in
                switch request.target {
                case "/gzip":
                    .response(fields: ["Content-Type": "text/plain", "Content-Encoding": "gzip"], body: Self.coded)
                default: .response(fields: ["Content-Type": "image/png"], body: [0xFF, 0x00, 0xFE])
                }
            }
            for target in ["gzip", "png"] { _ = try await client.get(HTTP.Target(target), as: .bytes) }
        }
        let whole = try await Self.with { try await play($0, $1) }
        #expect(whole.entries.map(\.response.content.bytes) == ["some text, some text", [0xFF, 0x00, 0xFE]])
        #expect(whole.entries.map(\.response.content.encoding) == [nil, "base64"])
        #expect(whole.entries[0].response.content.size == 20)
        let cut = try await Self.with(.init(bodyLimit: 2)) { try await play($0, $1) }
        #expect(cut.entries.map(\.response.content.isCut) == [true, true])
        #expect(cut.entries[1].response.content.bytes == [0xFF, 0x00])
        let none = try await Self.with(.init()) { try await play($0, $1) }
        #expect(none.entries.map(\.response.content.text) == [nil, nil])
        #expect(none.entries[1].response.content.size == 3)
    }

    @Test(arguments: [
        ("application/json", Array("{\"token\": \"pl4nted\", \"x\": \"\u{44F}\u{44F}\"}".utf8), 40),
        (
            "application/json",
            [0x7B, 0x22, 0x74, 0x6F, 0x6B, 0x65, 0x6E, 0x22, 0x3A, 0x22]
                + Array("pl4nted\"} \u{FC}".utf8)
                .dropLast(), 1000
        ),
        (
            "multipart/form-data; boundary=b",
            Array("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\npl4nted\r\n--b--".utf8) + [0xFF],
            1000
        ),
        ("text/xml", Array("<a><password>pl4nted</password></a>".utf8), 1000),
    ]) func `a secret does not hide in what is cut, coded or no UTF-8`(type: String, body: [UInt8], limit: Int)
        async throws
    {
        for length in [limit, body.count - 1, body.count - 2] {
            let har = try await Self.with(.init(bodyLimit: length)) { server, client in
                server.respond { _ in .response(fields: ["Content-Type": type], body: Bytes(body)) }
                _ = try await client.post("a", body: .bytes(Bytes(body), contentType: type), as: .bytes)
            }
            let entry = try #require(har.entries.first)
            for bytes in [entry.request.postData?.bytes, entry.response.content.bytes] {
                #expect(bytes.map { String($0).contains("pl4nted") } != true, "\(type) \(length)")
            }
        }
    }

    @Test func `a coded body that was cut is decoded as far as it goes, or left out`() async throws {
        for limit in [10, 25] {
            let har = try await Self.with(.init(bodyLimit: limit)) { server, client in
                let fields: Fields = ["Content-Type": "text/plain", "Content-Encoding": "gzip"]
                server.respond { _ in .response(fields: fields, body: Self.coded) }
                _ = try await client.get("a", as: .string)
            }
            let content = har.entries[0].response.content
            #expect(content.isCut == true && content.encoding == nil)
            #expect(content.text.map { "some text, some text".hasPrefix($0) } != false)
        }
    }

    @Test func `interim responses and the sizes of heads are in the entry`() async throws {
        let har = try await Self.with { server, client in
            server.enqueue(
                .raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"))
            _ = try await client.post("a", body: .string("body"), as: .string)
            let sent = try #require(server.requests.first)
            #expect(sent.body == "body")
        }
        let entry = har.entries[0]
        #expect(entry.interim == [HAR.Interim(103, [HAR.NameValue("Link", "</a>")])])
        #expect(entry.response.headersSize == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n".utf8.count)
        let lines = entry.request.headers.reduce("POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\n".utf8.count) {
            $0 + "\($1.name): \($1.value)\r\n".utf8.count
        }
        #expect(entry.request.headersSize == lines && entry.request.bodySize == 4)
    }

    @Test func `what JSON is not read as is said to be cut where something is left out of it`() async throws {
        let lines = "{\"page\": 1}\n{\"token\": {\"a\": 1}, \"page\": 2}\n"
        let har = try await Self.with { server, client in
            server.respond { _ in .response(fields: ["Content-Type": "application/x-json"], body: Bytes(lines)) }
            _ = try await client.get("a", as: .string)
        }
        #expect(har.entries[0].response.content.isCut == true)
    }

    @Test func `what is left out of JSON keeps its type`() throws {
        let json = #"{"author":{"name":"x","id":7},"total_tokens":34,"keywords":["a"],"code":null,"page":1}"#
        let redaction = Redaction(secret: .usual)
        let shown = redaction.body(json, "application/json")
        #expect(
            shown.text == #"{"author":{"name":"***","id":0},"total_tokens":0,"keywords":["***"],"code":null,"page":1}"#)
        #expect(redaction.body(shown.text, "application/json").text == shown.text)
    }

    @Test func `only requests with the tag are recorded, if there is one`() async throws {
        let har = try await Self.with(.init(tag: "seen")) { server, client in
            server.respond { _ in .response(body: "x") }
            _ = try await client.get("a", as: .string)
            _ = try await client.get("b", options: .init(tags: ["seen"]), as: .string)
        }
        #expect(har.entries.map { $0.request.url.suffix(2) } == ["/b"])
    }

    @Test func `a recorder is no sign of who asks: the cache and sharing stay as they are`() async throws {
        let har = try await Self.with { configuration in
            configuration.cache = HTTPSession.Cache(.small)
            configuration.coalescing.isOn = true
        } _: { server, client in
            server.respond { _ in .response(fields: ["Cache-Control": "max-age=60"], body: "x") }
            for _ in 0..<3 { _ = try await client.get("a", as: .string) }
            #expect(server.requests.count == 1)
        }
        #expect(har.entries.map(\.fromCache) == [nil, "memory", "memory"])
    }
}
