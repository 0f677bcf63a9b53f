import Dunlin
import DunlinTesting
import Folders

extension Scenario {
    /// Hooks of one request beside the session's, and hooks that have an opinion.
    static let interventions: [Scenario] = [
        Scenario("hooks-of-session-and-request") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"], body: "moved"), .response(body: "here"))
            await scene.note("post") {
                try await scene.session.post("a", body: .string("x"), options: .onlookedAt, as: .string)
            }
        },
        Scenario("hooks-of-a-retry", hasManualClock: true, chancy: Set(HTTP.Phase.allCases)) {
            $0.retry = .constant(attempts: 2, every: .seconds(1))
        } _: { scene in
            scene.server.enqueue(.response(503), .response(body: "fit"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", options: .onlookedAt, as: .string) }
            }
        },
        Scenario("hooks-of-a-stream") { scene in
            scene.server.enqueue(.response(body: "hello"))
            await scene.note("stream") {
                try await scene.session.withResponse(from: "a", options: .onlookedAt) { try await scene.text($0) }
            }
        },
        Scenario("hooks-of-a-failure") { scene in
            scene.server.enqueue([.close])
            await scene.note("get") { try await scene.session.post("a", options: .onlookedAt, as: .bytes) }
        },
        Scenario("hook-cancels") { scene in
            scene.server.enqueue(.response(body: "hello"), .response(body: "next"))
            var options = HTTPSession.Options.onlookedAt
            options.hooks.response = { _, _ in .cancel }
            await scene.note("get") { [options] in try await scene.session.get("a", options: options, as: .bytes) }
            await scene.note("next") { try await scene.session.get("b", as: .bytes) }
        },
        Scenario("hook-cancels-a-stream") { scene in
            scene.server.enqueue(.response(body: "hello"))
            var options = HTTPSession.Options.onlookedAt
            options.hooks.response = { _, _ in .cancel }
            await scene.note("stream") { [options] in
                try await scene.session.withResponse(from: "a", options: options) { try await scene.text($0) }
            }
        },
        Scenario("hook-cancels-a-download") { scene in
            scene.server.enqueue(.response(body: "hello"))
            var options = HTTPSession.Options.onlookedAt
            options.hooks.response = { _, _ in .cancel }
            await scene.note("download") { [options] in
                try await scene.session.download("a", options: options, to: .file("\(scene.folder.path)/file"))
            }
            try scene.noteFiles()
        },
        Scenario("hook-stops-a-redirect") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"], body: "moved"))
            var options = HTTPSession.Options.onlookedAt
            options.hooks.redirect = { _ in .stop }
            options.validatesResponse = false
            await scene.note("get") { [options] in try await scene.session.get("a", options: options, as: .string) }
        },
        Scenario("hook-changes-a-redirect") { scene in
            scene.server.enqueue(.response(302, fields: ["Location": "/b"]), .response(body: "here"))
            var options = HTTPSession.Options.onlookedAt
            options.hooks.redirect = { proposal in
                var next = proposal.next
                next.url += "?changed"
                next.fields["X-Own"] = "1"
                return .modify(next)
            }
            await scene.note("get") { [options] in try await scene.session.get("a", options: options, as: .string) }
        },
        Scenario("hook-gives-a-new-body", chancy: [.firstByte]) { scene in
            // Closed, since a connection whose upload has only just ended may be thought busy.
            scene.server.enqueue(
                LoopbackServer.Reply.response(307, fields: ["Location": "/b"]).closingAfter, .response(body: "here"))
            var options = HTTPSession.Options.onlookedAt
            options.hooks.replacementBody = { _ in .string("anew") }
            let body = RequestBody.stream(UploadPieces(total: 1000), length: 1000)
            await scene.note("post") { [options] in
                try await scene.session.post("a", body: body, options: options, as: .string)
            }
        },
        Scenario("hook-is-shown-the-data") { scene in
            scene.server.enqueue(.generated(length: 200_000))
            let count = Last()
            var options = HTTPSession.Options()
            options.hooks.data = { _, bytes in count.add(bytes.count) }
            await scene.note("get") { [options] in try await scene.session.get("a", options: options, as: .bytes) }
            scene.transcript.note("shown: \(count.sum)")
        },
        Scenario("serializer-fails") { scene in
            scene.server.respond { _ in .response(fields: ["Content-Type": "application/json"], body: "{no json") }
            await scene.note("plain") { try await scene.session.get("a", as: .json([Int].self)) }
            await scene.note("onlooked") {
                try await scene.session.get("b", options: .onlookedAt, as: .json([Int].self))
            }
            await scene.note("handle") { try await scene.session.task("c", as: .json([Int].self)).response }
        },
        Scenario("serializer-refuses-the-type") { scene in
            scene.server.respond { _ in .response(fields: ["Content-Type": "text/html"], body: "[1]") }
            await scene.note("get") { try await scene.session.get("a", options: .onlookedAt, as: .json([Int].self)) }
        },
        Scenario("serializer-succeeds") { scene in
            scene.server.respond { _ in .response(fields: ["Content-Type": "application/json"], body: "[1, 2]") }
            await scene.note("get") {
                try await scene.session.get("a", options: .onlookedAt, as: .json([Int].self)).value
            }
        },
    ]
}

extension HTTPSession.Options {
    /// A request with every hook there is.
    static var onlookedAt: Self {
        var options = Self()
        options.hooks = RecordingHooks.hooks(of: "own ")
        return options
    }
}
