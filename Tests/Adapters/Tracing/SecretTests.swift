import Dunlin
import DunlinTesting
import DunlinTracing
import InMemoryTracing
import Testing
import Tracing

@Suite("Secrets in spans")
struct SecretTests {
    @Test(arguments: [
        ("a?token=s3cr3t&page=2", "/v1/a?token=REDACTED&page=2"),
        (
            "a?AWSAccessKeyId=s3cr3t&Signature=s3cr3t&sig=s3cr3t",
            "/v1/a?AWSAccessKeyId=REDACTED&Signature=REDACTED&sig=REDACTED"
        ),
        ("a?X-Goog-Signature=s3cr3t&x=1", "/v1/a?X-Goog-Signature=REDACTED&x=1"),
        ("a?ticket=s3cr3t", "/v1/a?ticket=REDACTED"),
        ("a?next=https%3A%2F%2Fb.test%2F%3Fticket%3Ds3cr3t", "/v1/a?next=REDACTED"),
        ("a;jsessionid=s3cr3t/b?x=1", "/v1/a;jsessionid=REDACTED/b?x=1"),
    ])
    func `A secret value of a URL is REDACTED`(target: String, shown: String) async throws {
        // Named after the spans were asked for.
        let traced = try Traced(configure: { $0.secretFields = ["ticket"] })
        traced.transport.otherwise { _ in .respond() }
        try await traced.session.get(HTTP.Target(target))
        #expect(traced.spans[0].texts["url.full"] == "https://api.test" + shown)
    }

    @Test(arguments: [true, false]) func `A path is shown as it was sent, or as its template`(isShown: Bool)
        async throws
    {
        let traced = try Traced { $0.showsPaths = isShown }
        traced.transport.on(.get, "/v1/moved").respond(302, fields: ["Location": "/hooks/s3cr3t?x=1"])
        traced.transport.otherwise { _ in .respond() }
        let text = "hooks/s3cr3t?x=1&token=s3cr3t"
        try await traced.session.get("hooks/\("s3cr3t", name: "key")?x=1")
        try await traced.session.get("/\("s3cr3t")")
        try await traced.session.get(HTTP.Target(text))
        try await traced.session.get("moved")
        let shown =
            isShown
            ? [
                "/v1/hooks/s3cr3t?x=1", "/s3cr3t", "/v1/hooks/s3cr3t?x=1&token=REDACTED", "/v1/moved",
                "/hooks/s3cr3t?x=1",
            ]
            : ["/hooks/{key}?x=1", "/{}", "/REDACTED?x=1&token=REDACTED", "/moved", "/REDACTED?x=1"]
        #expect(traced.spans.map { $0.texts["url.full"] } == shown.map { "https://api.test" + $0 })
        #expect(isShown || !traced.spans.map(\.everything).joined().contains("s3cr3t"))
    }

    @Test func `User info is in no URL`() async throws {
        let traced = try Traced()
        traced.transport.otherwise { _ in .respond() }
        _ = try? await traced.session.get("https://ada:s3cr3t@api.test/a")
        #expect(!traced.spans.map(\.everything).joined().contains("s3cr3t"))
        #expect(traced.spans.allSatisfy { $0.texts["url.full"] == "https://api.test/a" })
    }

    @Test func `A secret is nowhere in a trace, wherever it was`() async throws {
        struct Leaky: Error, CustomStringConvertible {
            var description: String { "s3cr3t" }
        }
        let traced = try Traced {
            $0.recordsRequests = true
            $0.includesDevelopment = true
            $0.sendsBaggage = true
        } configure: {
            $0.retry = .constant(attempts: 2, every: .milliseconds(1))
            $0.credentials = .bearer(token: "s3cr3t")
            $0.fields["X-Api-Key"] = "s3cr3t"
            $0.cookies = CookieJar()
            $0.interceptors = [
                .exchange { request, next in
                    if request.head.target.contains("leaky") { throw Leaky() }
                    return try await next(request)
                }
            ]
        }
        let fields: Fields = ["Set-Cookie": "id=s3cr3t", "X-Token": "s3cr3t"]
        traced.transport.on(.post, "/v1/a").respond(
            302, fields: fields.overlaid(with: ["Location": "https://u:s3cr3t@other.test/b?token=s3cr3t"]))
        traced.transport.on(.get, "/b").respond(500, fields: fields, body: "{\"password\":\"s3cr3t\"}").always()
        traced.transport.on(.get, "/v1/c").fail(NetworkError(.connectionFailed, "s3cr3t", peer: "s3cr3t")).always()
        var options = HTTPSession.Options()
        options.label = "s3cr3t"
        options.tags = ["s3cr3t"]
        _ = try? await traced.session.post(
            "a?api_key=s3cr3t&q=\("s3cr3t")", json: ["password": "s3cr3t"], options: options)
        for target in ["c?token=s3cr3t", "leaky?sig=s3cr3t"] {
            _ = try? await traced.session.get(HTTP.Target(target), options: options)
        }
        _ = try? await traced.session.get("leaky;key=s3cr3t?token=s3cr3t#s3cr3t", options: options)
        #expect(traced.spans.count >= 8)
        for span in traced.spans {
            // What a program puts into a value whose name is harmless is shown, in the URL only.
            let text = span.everything.replacing("q=s3cr3t", with: "")
            #expect(!text.contains("s3cr3t"), "\(text)")
        }
    }

    @Test func `A proxy is named without its user`() async throws {
        let (server, proxy, tracer) = (try LoopbackServer(), try LoopbackProxy(), InMemoryTracer())
        defer {
            proxy.stop()
            server.stop()
        }
        server.respond { _ in .response(body: "x") }
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.proxy = .url(proxy.url(user: "ada", password: "s3cr3t"))
        configuration.recordSpans(with: tracer)
        let session = try HTTPSession(configuration)
        _ = try? await session.get("a", as: .string)
        await session.shutdown()
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.texts["dunlin.proxy"] == "http://127.0.0.1:\(proxy.port)")
        #expect(span.texts["network.peer.port"] == "\(proxy.port)")
        #expect(!span.everything.contains("s3cr3t") && !span.everything.contains("ada"))
    }

    @Test func `What peers and programs write is short and visible`() async throws {
        let traced = try Traced { $0.recordsRequests = true }
        let long = String(repeating: "é", count: 5000)
        traced.transport.on(.get, "/v1/a").fail(NetworkError(.init("odd\u{1B}[2J\n" + long), "no"))
        traced.transport.otherwise { _ in .respond() }
        _ = try? await traced.session.get("a")
        _ = try? await traced.session.get("b/\(long)")
        let type = try #require(traced.spans[1].texts["error.type"])
        #expect(type.hasPrefix("odd\\u{1B}[2J\\u{A}") && type.unicodeScalars.count < 90)
        #expect(traced.spans.allSatisfy { $0.texts.values.allSatisfy { $0.unicodeScalars.count <= 2100 } })
    }
}
