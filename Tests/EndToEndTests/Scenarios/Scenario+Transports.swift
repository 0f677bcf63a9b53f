import Dunlin
import DunlinTesting
import Folders

extension Scenario {
    /// The same over a transport that is not ours.
    static let mocks: [Scenario] = [
        Scenario("mock-get", configure: mocked) { scene in
            scene.mock.on(.get, "/a").respond(fields: ["X-Own": "1"], body: "hello")
            await scene.note("get") { try await scene.session.get("a", query: ["q": "x"], as: .string) }
            await scene.note("unmatched") { try await scene.session.get("b", as: .string) }
            scene.noteMocked()
        },
        Scenario("mock-post", configure: mocked) { scene in
            scene.mock.on(.post, "/a").stream(["one", "two"])
            let body = RequestBody.stream(UploadPieces(total: 50_000), length: 50_000)
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
            scene.noteMocked()
        },
        Scenario("mock-not-found", configure: mocked) { scene in
            scene.mock.on(.get, "/a").respond(.notFound, body: "none")
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("mock-redirect", configure: mocked) { scene in
            scene.mock.on(.post, "/a").respond(303, fields: ["Location": "/b"], body: "moved")
            scene.mock.on(.get, "/b").respond(body: "here")
            await scene.note("post") { try await scene.session.post("a", body: .string("x"), as: .string) }
            scene.noteMocked()
        },
        Scenario("mock-redirect-streamed", configure: mocked) { scene in
            scene.mock.on(.get, "/a").stream(["mo", "ved"], fields: ["X-Own": "1"])
            scene.mock.on(.get, "/b").reply(.stream(["mo", "ved"], status: 302, fields: ["Location": "/a"]))
            await scene.note("get") { try await scene.session.get("b", as: .string) }
            scene.noteMocked()
        },
        Scenario("mock-retry", hasManualClock: true) {
            mocked(&$0)
            $0.retry = .constant(attempts: 3, every: .seconds(1))
        } _: { scene in
            scene.mock.on(.get, "/a").fail(.connectionReset).thenRespond(503, body: "busy").thenRespond(body: "fit")
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
            scene.noteMocked()
        },
        Scenario("mock-fails", configure: mocked) { scene in
            struct Own: Error {}
            scene.mock.on(.get, "/a").fail(.connectionRefused).thenFail(Own())
            await scene.note("refused") { try await scene.session.get("a", as: .string) }
            await scene.note("own error") { try await scene.session.get("a", as: .string) }
        },
        Scenario("mock-cancelled", configure: mocked) { scene in
            scene.mock.on(.get, "/a").never()
            let running = Task { await scene.note("get") { try await scene.session.get("a", as: .string) } }
            try await scene.mock.waitForRequests(1)
            await scene.noteTasks("while it waits")
            running.cancel()
            await running.value
        },
        Scenario("mock-cancelled-by-the-registry", configure: mocked) { scene in
            scene.mock.on(.get, "/a").never()
            let running = Task { await scene.note("get") { try await scene.session.get("a", as: .string) } }
            try await scene.mock.waitForRequests(1)
            let count = await scene.session.tasks.cancelAll()
            await running.value
            scene.transcript.note("cancelled: \(count)")
        },
        Scenario("mock-handle", configure: mocked) { scene in
            scene.mock.on(.get, "/a").respond(body: "hello")
            let task = try scene.session.task("a", as: .string)
            await scene.note("value") { try await task.response }
            await scene.note("again") { try await task.value }
        },
        Scenario("mock-stream", configure: mocked) { scene in
            scene.mock.on(.get, "/a").stream(["one", "two"]).thenRespond(404, body: "none")
            await scene.note("stream") { try await scene.read("a") }
            await scene.note("not found") { try await scene.read("a") }
        },
        Scenario("mock-stream-left-early", configure: mocked) { scene in
            scene.mock.on(.get, "/a").stream(["one", "two"])
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a") { response in
                    for try await _ in response.body { break }
                    return response.status.code
                }
            }
        },
        Scenario("mock-stream-broken", configure: mocked) { scene in
            struct Own: Error {}
            scene.mock.on(.get, "/a").reply(.stream(["one"], failing: Own()))
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("mock-stream-cancelled", configure: mocked) { scene in
            let reached = LoopbackServer.Gate()
            let outcome = MockTransport.Outcome.stream { index in
                if index == 0 { return "one" }
                reached.open()
                try await ManualClock().sleep(for: .seconds(1))
                return nil
            }
            scene.mock.on(.get, "/a").reply(outcome)
            let running = Task { await scene.note("stream") { try await scene.read("a") } }
            try await reached.opened()
            running.cancel()
            await running.value
        },
        Scenario("mock-download", configure: mocked) { scene in
            scene.mock.on(.get, "/a").stream(["one", "two"])
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
            }
            try scene.noteFiles()
        },
        Scenario("mock-body-too-long", configure: mocked) { scene in
            scene.mock.on(.get, "/a").stream(["01234", "56789"])
            await scene.note("get") {
                try await scene.session.get("a", options: .init(bodyLimit: 7), as: .bytes)
            }
        },
        Scenario("mock-prewarm", configure: mocked) { scene in
            await scene.note("prewarm") { try await scene.session.prewarm(3) }
        },
        Scenario("mock-shutdown-while-running", configure: mocked) { scene in
            scene.mock.on(.get, "/a").never()
            let running = Task { await scene.note("get") { try await scene.session.get("a", as: .string) } }
            try await scene.mock.waitForRequests(1)
            let cancelled = await scene.session.shutdown()
            await running.value
            scene.transcript.note("shutdown: \(cancelled)")
        },
    ]

    private static let mocked: @Sendable (inout HTTPSession.Configuration) -> Void = { $0.transport = MockTransport() }

    /// Over TLS.
    static let secure: [Scenario] = [
        Scenario("secure-get", isSecure: true) { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.note("first") { try await scene.session.get("a", as: .string) }
            await scene.note("second") { try await scene.session.get("b", as: .string) }
        },
        Scenario("secure-post-redirected", isSecure: true) { scene in
            scene.server.enqueue(.response(307, fields: ["Location": "/b"]), .response(body: "here"))
            await scene.note("post") { try await scene.session.post("a", body: .string("x"), as: .string) }
        },
        Scenario("secure-redirect-elsewhere", isSecure: true) { scene in
            let elsewhere = "https://localhost:\(scene.server.port)/b"
            scene.server.enqueue(.response(302, fields: ["Location": elsewhere]), .response(body: "here"))
            let options = HTTPSession.Options(fields: ["Authorization": "Bearer x"])
            await scene.note("get") { try await scene.session.get("a", options: options, as: .string) }
        },
        Scenario("secure-redirect-to-clear-text", isSecure: true) { scene in
            let clear = "http://127.0.0.1:\(scene.server.port)/b"
            scene.server.enqueue(.response(302, fields: ["Location": clear]))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("secure-stream", isSecure: true) { scene in
            scene.server.enqueue(.generated(length: 300_000))
            await scene.note("stream") { try await scene.read("a") }
        },
        Scenario("secure-cut", isSecure: true) { scene in
            scene.server.enqueue(LoopbackServer.Reply.untilClose("all there is?").cutAfter(1000))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("secure-untrusted", isSecure: true) {
            if let other = try? CertificateAuthority() { $0.tls.roots = .only([.bytes(other.certificate.der)]) }
        } _: { scene in
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        // A server's tickets come after the handshake, and a request waits while the pool looks at them.
        Scenario("secure-prewarmed", isSecure: true, chancy: [.pool]) { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("prewarm") { try await scene.session.prewarm(1) }
            await scene.note("get") { try await scene.session.get("a", as: .bytes) }
        },
    ]
}

extension Scene {
    /// The transport of a scenario that has one of its own.
    var mock: MockTransport {
        session.configuration.transport as? MockTransport ?? MockTransport()
    }

    /// Notes what the mock was asked.
    func noteMocked() {
        for request in mock.requests {
            let fields = request.fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
            let end = request.isComplete ? "complete" : "incomplete"
            transcript.note("asked: \(request.method) \(request.target), \(fields), body \(request.body.count), \(end)")
        }
    }
}
