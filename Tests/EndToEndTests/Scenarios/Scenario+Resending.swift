import Dunlin
import DunlinTesting

extension Scenario {
    /// Where a redirect leads, and what goes along.
    static let redirects: [Scenario] = [
        Scenario("redirect-get") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"], body: "moved"), .response(body: "here"))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("redirect-post-to-get") { scene in
            scene.server.enqueue(.response(303, fields: ["Location": "b?x=1"]), .response(body: "here"))
            await scene.note("post") { try await scene.session.post("a", body: .string("x"), as: .string) }
        },
        Scenario("redirect-post-again") { scene in
            scene.server.enqueue(.response(307, fields: ["Location": "/b"]), .response(body: "here"))
            await scene.note("post") { try await scene.session.post("a", body: .string("x"), as: .string) }
        },
        Scenario("redirect-body-gone", chancy: [.firstByte]) { scene in
            scene.server.enqueue(.response(307, fields: ["Location": "/b"]))
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("post") { try await scene.session.post("a", body: body, as: .string) }
        },
        Scenario("redirect-elsewhere") { scene in
            let elsewhere = "\(scene.stage.scheme)://localhost:\(scene.server.port)/b"
            scene.server.enqueue(.response(302, fields: ["Location": elsewhere]), .response(body: "here"))
            let options = HTTPSession.Options(fields: ["Authorization": "Bearer x", "Cookie": "a=b", "X-Own": "1"])
            await scene.note("get") { try await scene.session.get("a", options: options, as: .string) }
        },
        Scenario("redirect-loop") { scene in
            scene.server.enqueue(
                .response(302, fields: ["Location": "/b"]), .response(302, fields: ["Location": "/a"]))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("redirect-too-many", configure: { $0.redirects.limit = 1 }) { scene in
            scene.server.enqueue(
                .response(302, fields: ["Location": "/b"]), .response(302, fields: ["Location": "/c"]))
            await scene.note("get") { try await scene.session.get("a", as: .string) }
        },
        Scenario("redirect-in-a-stream") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"], body: "moved"), .response(body: "here"))
            await scene.note("stream") { try await scene.read("a") }
        },
    ]

    /// What is tried again, after which waits, and with what.
    static let retries: [Scenario] = [
        Scenario("retry-status", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) { scene in
            scene.server.enqueue(.response(503, fields: ["Retry-After": "2"], body: "busy"), .response(body: "fit"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario("retry-reset", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) { scene in
            scene.server.enqueue(LoopbackServer.Reply.response(body: "a").resetAfter(0), .response(body: "fit"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario("retry-exhausted", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) {
            scene in
            scene.server.respond { _ in .response(503, body: "busy") }
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario("retry-unsafe", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) { scene in
            scene.server.respond { _ in .response(503, body: "busy") }
            await scene.note("post") {
                try await scene.skippingWaits {
                    try await scene.session.post("a", body: .string("x"), as: .string)
                }
            }
        },
        Scenario("retry-body-again", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) {
            scene in
            scene.server.enqueue(.response(503), .response(body: "fit"))
            let body = RequestBody.bytes(LoopbackServer.GeneratedBody.bytes(0..<5000))
            await scene.note("put") {
                try await scene.skippingWaits { try await scene.session.put("a", body: body, as: .string) }
            }
        },
        Scenario("retry-stream", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) { scene in
            scene.server.enqueue(.response(503), .response(body: "fit"))
            await scene.note("stream") { try await scene.skippingWaits { try await scene.read("a") } }
        },
        Scenario("retry-after-redirect", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying) {
            scene in
            scene.server.enqueue(
                .response(302, fields: ["Location": "/b"]), .response(503), .response(body: "fit"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario(
            "retry-cancelled-in-the-wait", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: retrying
        ) { scene in
            scene.server.enqueue(.response(503))
            let running = Task { await scene.note("get") { try await scene.session.get("a", as: .string) } }
            try await scene.clock.waitForRetries()
            await scene.noteTasks("while it waits")
            running.cancel()
            await running.value
        },
    ]

    private static let retrying: @Sendable (inout HTTPSession.Configuration) -> Void = {
        $0.retry = .constant(attempts: 3, every: .seconds(1))
    }
}

extension Scene {
    /// Reads a streamed response to its end, and tells what it was.
    func read(
        _ target: HTTP.Target, method: HTTP.Method = .get, body: RequestBody = .none
    ) async throws -> String {
        try await session.withResponse(from: target, method: method, body: body) { response in
            var count = 0
            for try await piece in response.body { count += piece.count }
            return "\(response.status.code), \(count) bytes from \(response.url), retries \(response.retries.count),"
                + " history \(response.history)" + transcript.text(response.cacheUse)
                + transcript.text(response.metrics)
        }
    }
}
