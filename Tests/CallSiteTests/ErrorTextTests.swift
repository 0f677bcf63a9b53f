import Dunlin
import DunlinTesting
import Folders
import FoundationEssentials
import Testing

/// What a person on call reads: the thing, and the way out.
@Suite(.timeLimit(.minutes(10))) struct `Texts of errors` {
    private let mock = MockTransport()

    private func client(_ change: (inout HTTPSession.Configuration) -> Void = { _ in }) throws -> HTTPSession {
        let transport = mock
        return try HTTPSession(baseURL: "http://api.test") {
            $0.transport = transport
            change(&$0)
        }
    }

    private func text(_ work: () async throws -> Void) async -> String {
        do {
            try await work()
            return "no error"
        } catch let error as NetworkError {
            if [.fileUnreadable, .fileNotCreated, .invalidPart].contains(error.code) { #expect(error.phase == nil) }
            return "\(error)"
        } catch {
            return "no network error: \(error)"
        }
    }

    @Test func `a URL without a scheme is told what it lacks`() async throws {
        let bare = try HTTPSession()
        let request = await text { try await bare.get("api.test/users") }
        #expect(request.hasPrefix("GET api.test/users: invalidRequest: "))
        #expect(request.contains("must begin with http:// or https://"))
        #expect(await text { _ = try HTTPSession(baseURL: "api.test/v1") }.contains("\"api.test/v1\""))
        await bare.shutdown()
    }

    @Test func `a file that is not there is named`() async throws {
        mock.on(.get, "/d").respond(body: "x").always()
        let client = try client()
        let body = await text { try await client.post("x", body: .file("/nowhere/p.jpg")) }
        #expect(body.hasPrefix("POST http://api.test/x: fileUnreadable: ") && body.contains("/nowhere/p.jpg, cannot"))
        let part = await text {
            try await client.post(
                "x", body: .multipart { MultipartPart.file("photo", at: "/nowhere/p.jpg", contentType: .jpeg) })
        }
        #expect(part.contains("\"photo\", /nowhere/p.jpg, cannot be read: No such file"))
        let download = await text { _ = try await client.download("d", to: .file("/proc/nowhere/x")) }
        #expect(
            download.hasPrefix("GET http://api.test/d: fileNotCreated: ")
                && download.contains(": /proc/nowhere: No such file"))
        #expect(download.contains("; `createsFolders` makes its folder"))
        let made = await text {
            _ = try await client.download(
                "d", to: .file("/proc/nowhere/x"), transfer: .init(createsFolders: true))
        }
        #expect(made.contains(": /proc/nowhere: No such file") && !made.contains("createsFolders"))
        let folder = try Folder()
        let path = try folder.write("old", as: "x")
        let kept = await text { _ = try await client.download("d", to: .file(path)) }
        #expect(kept.contains("it already exists; `transfer: .init(overwrites: true)` replaces it"))
    }

    @Test func `an identity and authorities that cannot be read are named`() async {
        func text(_ change: (inout HTTPSession.TLS) -> Void) async -> String {
            var configuration = HTTPSession.Configuration()
            change(&configuration.tls)
            return await self.text { _ = try HTTPSession(configuration) }
        }
        let identity = await text { $0.identity = .pem("/nowhere/c.pem") }
        #expect(identity.contains("file /nowhere/c.pem cannot be read: No such file"), "\(identity)")
        #expect(await text { $0.identity = .pkcs12("/etc/passwd") }.contains("(read from /etc/passwd)"))
        #expect(await text { $0.roots = .only(["/nowhere/ca.pem"]) }.contains("/nowhere/ca.pem cannot be read: it is"))
    }

    @Test func `pins without a base URL are told to have one`() async {
        let text = await text {
            var configuration = HTTPSession.Configuration()
            let pin = try SecurityPolicy.Pin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
            configuration.tls.policy = SecurityPolicy(mode: .publicKey, pins: [pin])
            _ = try HTTPSession(configuration)
        }
        #expect(text.contains("set `baseURL` to the https URL"))
    }

    @Test func `a relative target without a base URL is told to have one`() async {
        let text = await text { try await HTTPSession().get("users/42") }
        #expect(text.contains("the session has no `baseURL`, so its requests need whole URLs"), "\(text)")
    }

    @Test func `a session that is shut down says how to go on`() async {
        let text = await text {
            let client = try HTTPSession()
            await client.shutdown()
            try await client.get("http://api.test/r")
        }
        #expect(text.contains("the session is shut down; make another, or call `restart()`"), "\(text)")
    }

    @Test func `a request that was not tried again says why`() async throws {
        mock.on(.get, "/r").respond(.serviceUnavailable).always()
        let client = try client { $0.retry = .exponential(attempts: 3, budget: .ratio(0, floor: 0)) }
        let text = await text { try await client.get("r") }
        #expect(
            text.hasPrefix("GET http://api.test/r: 503 Service Unavailable; not tried again: the policy's `budget`"))
    }

    @Test func `a timeout names its phase, its limit and how long it took, and a summary leaves out the request`()
        async throws
    {
        let server = try LoopbackServer()
        server.route(.get, "/x", [.stall])
        let client = try HTTPSession(baseURL: server.baseURL) { $0.timeouts.firstByte = .milliseconds(50) }
        let error = try #require(await #expect(throws: NetworkError.self) { try await client.get("x") })
        #expect("\(error)" == "GET \(server.baseURL)/x: \(error.summary)")
        let line = #/timedOut: .+ \(phase firstByte, the firstByte limit of 50\.0 ms exceeded after \d+\.\d m?s\)/#
        #expect(try line.wholeMatch(in: error.summary) != nil, "\(error)")
        server.stop()
    }

    @Test func `errors are printed as the article on errors shows them`() async throws {
        mock.on(.get, "/users/42").respond(.notFound, json: ["error": "no such user"])
        mock.on(.get, "/users/42").respond(json: ["id": "x"])
        let client = try client { $0.baseURL = "https://api.test/" }
        #expect(
            isShown(
                await text { try await client.get("users/42") },
                as: """
                    GET https://api.test/users/42: 404 Not Found: {"error":"no such user"}
                    """))
        #expect(
            isShown(
                await text { _ = try await client.get("users/42", as: User.self) },
                as: """
                    GET https://api.test/users/42: decodingFailed: expected Int, found
                    the text "x" (at id, line 1, column 7) (phase receive)
                    """))

        let server = try LoopbackServer()
        server.route(.get, "/x", [.stall])
        let stalled = try HTTPSession(baseURL: "http://api.test:\(server.port)") {
            $0.hostOverrides = ["api.test": server.address]
            $0.timeouts.firstByte = .milliseconds(50)
        }
        let error = await text { try await stalled.get("x") }
        #expect(
            isShown(
                error.replacing("api.test:\(server.port)", with: "api.test"),
                as: """
                    GET http://api.test/x: timedOut: timed out waiting for the response
                    [10.0.0.7:80] (phase firstByte, the firstByte limit of 5.0 s exceeded
                    after 5.0 s)
                    """, measured: true), "\(error)")
        server.stop()
    }

    @Test(arguments: ["text/plain", "application/json"])
    func `the error of a text read as JSON says how to get it unchanged`(type: String) async throws {
        mock.on(.get, "/t").respond(fields: ["Content-Type": type], body: "hello").always()
        let client = try client()
        #expect(await text { _ = try await client.get("t", as: String.self) }.contains("write `as: .string`"))
        #expect(await text { _ = try await client.get("t", as: Data.self) }.contains("write `as: .bytes`"))
        #expect(!(await text { _ = try await client.get("t", as: Int.self) }.contains("write")))
    }
}
