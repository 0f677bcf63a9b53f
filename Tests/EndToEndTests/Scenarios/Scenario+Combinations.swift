import Dunlin
import DunlinTesting
import Folders

extension Scenario {
    /// Several reasons to send again, or to refuse, in one call.
    static let combinations: [Scenario] = [
        Scenario("retry-redirect-login", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: everything)
        {
            scene in
            scene.server.enqueue(
                .response(503, body: "busy"), .response(302, fields: ["Location": "/b"], body: "moved"),
                .asking("Basic realm=\"r\""), .response(503, fields: ["Retry-After": "2"]), .response(body: "in"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", options: .onlookedAt, as: .string) }
            }
        },
        Scenario(
            "retry-redirect-login-with-a-body", hasManualClock: true, chancy: Set(HTTP.Phase.allCases),
            configure: everything
        ) { scene in
            scene.server.enqueue(
                .asking("Basic realm=\"r\""), .response(308, fields: ["Location": "/b", "Set-Cookie": "id=1"]),
                .response(503), .response(body: "in"))
            await scene.note("put") {
                try await scene.skippingWaits { try await scene.session.put("a", body: .string("x"), as: .string) }
            }
        },
        Scenario(
            "retry-redirect-login-in-a-stream", hasManualClock: true, chancy: Set(HTTP.Phase.allCases),
            configure: everything
        ) { scene in
            scene.server.enqueue(
                .response(302, fields: ["Location": "/b"]), .response(503), .asking("Basic realm=\"r\""),
                .response(body: "in"))
            await scene.note("stream") { try await scene.skippingWaits { try await scene.read("a") } }
        },
        Scenario(
            "retry-redirect-login-in-a-download", hasManualClock: true, chancy: Set(HTTP.Phase.allCases),
            configure: everything
        ) { scene in
            let entity = LoopbackServer.Entity(length: 3000, tag: "\"v1\"")
            scene.server.enqueue(
                .response(503), .asking("Basic realm=\"r\""), .response(302, fields: ["Location": "/b"]))
            scene.server.serve(entity, at: "/b", faults: .status(503), .short(after: 1000))
            scene.server.respond { _ in .response(302, fields: ["Location": "/b"]) }
            await scene.note("download") {
                try await scene.movingOn {
                    try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
                }
            }
            try scene.noteFiles()
        },
        Scenario(
            "retry-after-half-a-body", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: everything
        ) {
            scene in
            let half = LoopbackServer.Reply.response(body: "0123456789").truncatedAfter(45)
            for target in ["/a", "/b", "/c"] {
                scene.server.route(.get, target, half, .response(body: "0123456789"))
            }
            await scene.note("plain") {
                try await scene.skippingWaits { try await scene.session.get("b", as: .string) }
            }
            await scene.note("onlooked") {
                try await scene.skippingWaits { try await scene.session.get("c", options: .onlookedAt, as: .string) }
            }
            let count = Last()
            var options = HTTPSession.Options.onlookedAt
            options.hooks.data = { _, bytes in count.add(bytes.count) }
            await scene.note("shown its data") { [options] in
                try await scene.skippingWaits { try await scene.session.get("a", options: options, as: .string) }
            }
            scene.transcript.note("shown: \(count.sum)")
        },
        Scenario("retry-until-the-login-is-refused", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            everything(&$0)
            $0.credentials = .password(user: "ada", password: "wrong")
        } _: { scene in
            scene.server.enqueue(.response(503), .asking("Basic realm=\"r\""), .response(503))
            scene.server.respond { _ in .asking("Basic realm=\"r\"") }
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario(
            "retry-ends-in-a-redirect-refused", hasManualClock: true, chancy: Set(HTTP.Phase.allCases),
            configure: everything
        ) { scene in
            var options = HTTPSession.Options()
            options.hooks.redirect = { _ in .stop }
            scene.server.enqueue(
                .response(503), .asking("Basic realm=\"r\""), .response(302, fields: ["Location": "/b"]))
            await scene.note("get") { [options] in
                try await scene.skippingWaits { try await scene.session.get("a", options: options, as: .string) }
            }
        },
        Scenario("hook-cancels-after-a-redirect-and-a-login", configure: everything) { scene in
            var options = HTTPSession.Options.onlookedAt
            options.hooks.response = { _, head in head.fields["x-own"] == nil ? nil : .cancel }
            scene.server.enqueue(
                .response(302, fields: ["Location": "/b"]), .asking("Basic realm=\"r\""),
                .response(fields: ["X-Own": "1", "Cache-Control": "max-age=100000"], body: "in"),
                .response(body: "next"))
            await scene.noteGet("get", "a", options)
            await scene.noteGet("next", "b")
            scene.noteCache()
        },
        Scenario("retry-of-what-is-stale", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            everything(&$0)
            $0.interceptors = watching
        } _: { scene in
            scene.server.enqueue(
                .response(fields: ["Cache-Control": "max-age=0", "ETag": "\"1\""], body: "old"), .response(503),
                .asking("Basic realm=\"r\""),
                .response(304, fields: ["Cache-Control": "max-age=100000", "ETag": "\"1\""]))
            await scene.noteGet("miss")
            await scene.note("revalidated") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
            await scene.noteGet("hit")
            scene.noteCache()
        },
        Scenario("total-time-over-between-attempts", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            everything(&$0)
            $0.retry = .constant(attempts: 9, every: .seconds(4))
            $0.timeouts.total = .seconds(10)
        } _: { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"]))
            scene.server.respond { _ in .response(503, body: "busy") }
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
    ]

    /// A password, cookies, a cache and another attempt or two.
    private static let everything: @Sendable (inout HTTPSession.Configuration) -> Void = {
        withPassword(&$0)
        withCache(&$0)
        $0.cookies = CookieJar()
        $0.retry = .constant(attempts: 3, every: .seconds(1))
    }
}
