import Dunlin
import DunlinTesting
import Folders
import Synchronization

extension Scenario {
    /// Servers that ask who the user is, and passwords that answer.
    static let logins: [Scenario] = [
        Scenario("login-basic", configure: withPassword) { scene in
            scene.server.enqueue(
                .asking("Basic realm=\"r\""), .response(body: "in"), .response(body: "known"))
            await scene.noteGet("asked", "d/a")
            await scene.noteGet("unasked", "d/b")
        },
        Scenario("login-digest-stale", configure: withPassword) { scene in
            scene.server.enqueue(
                .asking(digest("one")), .response(body: "in"), .asking(digest("two", isStale: true)),
                .response(body: "in again"), .response(body: "known"))
            await scene.noteGet("asked", "d/a")
            await scene.noteGet("stale", "d/b")
            await scene.noteGet("unasked", "d/c")
        },
        Scenario("login-digest-of-the-body", chancy: [.firstByte], configure: withPassword) { scene in
            scene.server.enqueue(
                .asking(digest("one", "auth-int")),
                .response(fields: ["Authentication-Info": "nextnonce=\"two\""], body: "in"))
            scene.server.respond { _ in .response(body: "known") }
            await scene.note("whole") { try await scene.session.post("a", body: .string("x"), as: .string) }
            await scene.note("next nonce") { try await scene.session.put("a", body: .string("y"), as: .string) }
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("streamed") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("login-refused") {
            $0.credentials = .password(user: "ada", password: "wrong")
        } _: { scene in
            scene.server.respond { _ in .asking("Basic realm=\"r\"") }
            await scene.noteGet("first")
            await scene.noteGet("second")
        },
        Scenario("login-refused-to-the-limit") {
            $0.authenticationHandler = { challenge in
                RecordingHooks.transcript?.note("asked after \(challenge.previousFailures) failures")
                return .useCredential(.password(user: "ada", password: "\(challenge.previousFailures)"))
            }
        } _: { scene in
            scene.server.respond { _ in .asking("Basic realm=\"r\"") }
            await scene.noteGet("get")
        },
        Scenario("login-cancelled-by-the-handler") { scene in
            struct Own: Error {}
            scene.server.respond { _ in .asking("Basic realm=\"r\"") }
            await scene.noteGet("cancelled", "a", .init(authenticationHandler: { _ in .cancel() }))
            await scene.noteGet("with an error", "b", .init(authenticationHandler: { _ in .cancel(Own()) }))
            await scene.noteGet("rejected", "c", .init(authenticationHandler: { _ in .reject }))
            await scene.noteGet("no opinion", "d", .init(authenticationHandler: { _ in .performDefault }))
        },
        Scenario("login-body-gone", chancy: [.firstByte], configure: withPassword) { scene in
            // Closed, since a connection whose upload has only just ended may be thought busy; and without a body,
            // which may come with the head or after it.
            scene.server.enqueue(LoopbackServer.Reply.asking("Basic realm=\"r\"", body: .empty).closingAfter)
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("login-before-the-body", chancy: [.firstByte], configure: withPassword) { scene in
            scene.server.enqueue(
                LoopbackServer.Reply.asking("Basic realm=\"r\"").closingAfter.beforeBody, .response(body: "in"))
            let options = HTTPSession.Options(expectsContinue: true, continueTimeout: .seconds(600))
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("put") { try await scene.session.put("a", body: body, options: options, as: .string) }
        },
        Scenario("login-redirected-elsewhere", configure: withPassword) { scene in
            let elsewhere = "http://localhost:\(scene.server.port)/b"
            scene.server.enqueue(
                .asking("Basic realm=\"r\""), .response(302, fields: ["Location": elsewhere]),
                .asking("Basic realm=\"r\""))
            await scene.noteGet("get")
        },
        Scenario("login-redirected-there-and-back", configure: withPassword) { scene in
            let elsewhere = "http://localhost:\(scene.server.port)/b"
            scene.server.enqueue(
                .asking("Basic realm=\"r\""), .response(302, fields: ["Location": elsewhere]),
                .response(307, fields: ["Location": scene.server.baseURL + "/c"]), .response(body: "back"))
            await scene.note("post") { try await scene.session.put("a", body: .string("x"), as: .string) }
        },
        Scenario("login-in-every-kind", configure: withPassword) { scene in
            scene.server.enqueue(
                .asking(digest("one")), .response(body: "stream"), .asking(digest("two", isStale: true)),
                .response(body: "file"), .asking(digest("three", isStale: true)), .response(body: "handle"))
            await scene.note("stream") { try await scene.read("a") }
            await scene.note("download") {
                try await scene.session.download("b", to: .file("\(scene.folder.path)/file"))
            }
            await scene.note("handle") { try await scene.session.task("c", as: .string).response }
        },
    ]

    /// Tokens that are refused, and got anew.
    static let tokens: [Scenario] = [
        Scenario("token-shared", chancy: Set(HTTP.Phase.allCases), hasWire: false, configure: withToken) { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.respond { request in
                if request.target == "/token" { return .response(body: "new") }
                if request.fields["authorization"] == "Bearer new" { return .response(body: "in") }
                return LoopbackServer.Reply.asking("Bearer").waiting(for: goOn)
            }
            var tasks: [HTTPSession.RequestTask<String>] = []
            for target in ["a", "b", "c"] as [HTTP.Target] {
                tasks.append(try await scene.begin(target, running: true))
                _ = try await scene.server.waitForRequests(tasks.count)
                await scene.noteTasks("asked")
            }
            goOn.open()
            for task in tasks {
                await scene.note("value") {
                    let response = try await task.response
                    return "\(response.value), \(response.metrics.hops.count) attempts"
                }
            }
            scene.noteAsked()
        },
        Scenario("token-not-to-be-had", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.authentication = .bearer(refreshTimeout: .seconds(1000)) { client in
                .init(try await client.post("token", as: .string).value)
            }
        } _: { scene in
            scene.server.route(.post, "/token", .response(500, body: "broken"), .response(body: "new"))
            scene.server.respond { _ in .response(body: "in") }
            await scene.noteGet("refused")
            await scene.noteGet("not asked again")
            try await scene.clock.advance(by: .seconds(70))
            await scene.noteGet("asked again")
        },
        Scenario("token-and-a-body-again", chancy: [.firstByte], configure: withToken) { scene in
            let grants = Atomic(0)
            scene.server.respond { request in
                if request.target == "/token" {
                    return .response(body: Bytes("\(grants.add(1, ordering: .relaxed).newValue)"))
                }
                return request.fields["authorization"] == "Bearer \(request.target.dropFirst())"
                    ? .response(body: "in") : LoopbackServer.Reply.asking("Bearer", body: .empty).closingAfter
            }
            await scene.note("post") { try await scene.session.post("1", body: .string("x"), as: .string) }
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("streamed") { try await scene.session.post("2", body: body, as: .string) }
            await scene.note("with it") { try await scene.session.post("2", body: .string("x"), as: .string) }
        },
        Scenario("token-refused-again", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: withToken) {
            scene in
            scene.server.route(.post, "/token", .response(body: "new"))
            scene.server.respond { _ in .asking("Bearer") }
            await scene.noteGet("first", "a")
            await scene.noteGet("second", "b")
        },
        Scenario("token-redirected-elsewhere", configure: withToken) { scene in
            let elsewhere = "http://localhost:\(scene.server.port)/b"
            scene.server.route(.post, "/token", .response(body: "new"))
            scene.server.enqueue(
                .asking("Bearer"), .response(302, fields: ["Location": elsewhere]), .asking("Bearer"))
            await scene.noteGet("get")
        },
        Scenario("token-in-a-stream", configure: withToken) { scene in
            scene.server.route(.post, "/token", .response(body: "new"))
            scene.server.enqueue(.asking("Bearer"), .response(body: "in"))
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("token-cancelled-while-it-is-got", configure: withToken) { scene in
            let (reached, goOn) = (LoopbackServer.Gate(), LoopbackServer.Gate())
            scene.server.route(
                .post, "/token",
                [
                    .signal(reached), .waitForSignal(goOn),
                    .message(.init(200, fields: ["Content-Length": "3"], body: "new")),
                ])
            scene.server.enqueue(.asking("Bearer"), .response(body: "in"))
            let running = Task { await scene.noteGet("cancelled") }
            try await reached.opened()
            await scene.noteTasks("meanwhile")
            running.cancel()
            await running.value
            goOn.open()
            await scene.noteGet("with what was got", "b")
        },
    ]

    static let withPassword: @Sendable (inout HTTPSession.Configuration) -> Void = {
        $0.credentials = .password(user: "ada", password: "pw")
    }

    private static let withToken: @Sendable (inout HTTPSession.Configuration) -> Void = {
        $0.authentication = .bearer("old", refreshTimeout: .seconds(1000)) { client in
            .init(try await client.post("token", as: .string).value)
        }
        $0.connections.perOrigin = 3
    }

    /// What a server asks by that wants Digest.
    static func digest(_ nonce: String, _ qualities: String = "auth", isStale: Bool = false) -> String {
        "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"\(qualities)\", algorithm=SHA-256"
            + (isStale ? ", stale=true" : "")
    }
}

extension LoopbackServer.Reply {
    /// 401, by this challenge.
    static func asking(_ challenge: String, body: Bytes = "who?") -> Self {
        .response(401, fields: ["WWW-Authenticate": challenge], body: body)
    }
}

extension Scene {
    /// Notes what the server was asked, in no order of time.
    func noteAsked() {
        let asked = server.requests.map { "\($0.method) \($0.target) \($0.fields["authorization"] ?? "nobody")" }
        for line in asked.sorted() { transcript.note("server: \(line)") }
    }
}
