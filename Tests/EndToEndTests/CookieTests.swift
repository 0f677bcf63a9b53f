import Dunlin
import DunlinTesting
import Folders
import LedgerRows
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `Cookies` {
    private static func sent(_ server: LoopbackServer) -> [[String]] {
        server.requests.map { $0.fields.values(of: "cookie") }
    }

    @Test func `cookies set by a login and its redirect are sent back on the same connection`() async throws {
        try await Stage.with(configure: { $0.cookies = CookieJar() }) { (stage: Stage) async throws in
            stage.server.route(
                .post, "/login",
                .response(303, fields: ["Location": "/home", "Set-Cookie": "id=\u{FC}1; HttpOnly"], body: "moved"))
            stage.server.respond { _ in .response(fields: ["Set-Cookie": "seen=1; Path=/"], body: "home") }
            let response = try await stage.session.post("login", body: .string("user"), as: .string)
            #expect(response.value == "home")
            _ = try await stage.session.get("next", as: .string)
            #expect(Self.sent(stage.server) == [[], ["id=\u{FC}1"], ["id=\u{FC}1; seen=1"]])
            #expect(stage.server.connectionCount == 1)
        }
    }

    @Test(.rows("RQ-57"), .rules("6265bis-5.8.1-2", "6265bis-7.2-1"))
    func `cookies are neither sent nor stored for a request that says so`() async throws {
        try await Stage.with(configure: { $0.cookies = CookieJar() }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(fields: ["Set-Cookie": "a=1"]) }
            var options = HTTPSession.Options(fields: ["Cookie": "own=1"])
            options.handlesCookies = false
            for _ in 0..<2 { _ = try await stage.session.get("x", options: options, as: .bytes) }
            #expect(Self.sent(stage.server) == [["own=1"], ["own=1"]])
            #expect(stage.session.configuration.cookies?.cookies.isEmpty == true)
        }
    }

    @Test(.rules("6265bis-5.8.3-3")) func `a secure cookie is sent over https only`() async throws {
        let jar = CookieJar()
        try await Stage.with(configure: { $0.cookies = jar }) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(fields: ["Set-Cookie": "a=1; Secure", "set-cookie": "b=2"]) }
            for _ in 0..<2 { _ = try await stage.session.get("x", as: .bytes) }
            let expected = Stage.isSecure ? ["a=1; b=2"] : ["b=2"]
            #expect(Self.sent(stage.server) == [[], expected])
            // Another port of the same host, in clear.
            let clear = try LoopbackServer()
            defer { clear.stop() }
            clear.respond { _ in .response() }
            var configuration = HTTPSession.Configuration(baseURL: clear.baseURL)
            configuration.use(stage.loop)
            configuration.cookies = jar
            let other = try HTTPSession(configuration)
            _ = try await other.get("x", as: .bytes)
            await other.shutdown()
            #expect(Self.sent(clear) == [["b=2"]])
        }
    }

    @Test func `cookies are sent with each segment of a download`() async throws {
        let folder = try Folder()
        let file = ServedFile(2 << 20, held: 100_000)
        let jar = CookieJar()
        try await Stage.with(tolerating: true, configure: { $0.cookies = jar }) { (stage: Stage) async throws in
            try jar.receive(["Set-Cookie": "a=1"], from: stage.server.baseURL)
            file.serve(on: stage)
            var options = HTTPSession.DownloadOptions()
            options.segments = HTTPSession.Segments(4, minimumLength: 128 << 10)
            let task = try stage.session.downloadTask("file", to: .folder(folder.path), transfer: options)
            task.resume()
            try await stage.eventually("parts were asked for") { stage.server.partCount >= 3 }
            file.gate.open()
            _ = try await task.response
            #expect(try folder.contents("file") == file.contents)
            #expect(Self.sent(stage.server).allSatisfy { $0 == ["a=1"] })
        }
    }

    @Test(.rules("6265bis-5.3-2")) func `cookies are not taken from interim responses or trailers`() async throws {
        let jar = CookieJar()
        try await Stage.with(tolerating: true, configure: { $0.cookies = jar }) { (stage: Stage) async throws in
            stage.server.respond { _ in
                .chunked(["x"], trailers: ["Set-Cookie": "c=3"], fields: ["Set-Cookie": "a=1"])
                    .precededBy(interim: 103, ["Set-Cookie": "b=2"])
            }
            _ = try await stage.session.get("x", as: .bytes)
            #expect(jar.cookies.map(\.name) == ["a"])
        }
    }

    /// The answer to a connection that was hanging up is asked for once more, with what the jar has then.
    @Test func `cookies are sent when a request is sent again, and in every kind of transfer`() async throws {
        try await Stage.with(tolerating: true, configure: { $0.cookies = CookieJar() }) { (stage: Stage) async throws in
            stage.server.enqueue(.response(fields: ["Set-Cookie": "a=1"]), .response().closingOnNextRequest)
            stage.server.respond { _ in .response(body: "body") }
            for _ in 0..<3 { _ = try await stage.session.get("x", as: .bytes) }
            _ = try await stage.session.withResponse(from: "s") { response in
                for try await _ in response.body {}
            }
            let big = LoopbackServer.GeneratedBody.bytes(0..<300_000)
            _ = try await stage.session.put("u", body: .bytes(big), as: .bytes)
            #expect(Self.sent(stage.server).dropFirst().allSatisfy { $0 == ["a=1"] })
            #expect(stage.server.requests.count == 5)
        }
    }
}
