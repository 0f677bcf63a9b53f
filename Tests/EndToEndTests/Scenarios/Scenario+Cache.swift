import Dunlin
import DunlinInflate
import DunlinTesting
import Folders

extension Scenario {
    /// What is stored, served again and asked about.
    static let caching: [Scenario] = [
        Scenario("cache-hit", configure: withCache) { scene in
            scene.server.enqueue(.response(fields: fresh, body: "hello"))
            await scene.noteGet("miss")
            await scene.noteGet("hit")
            await scene.note("streamed") { try await scene.read("a") }
            await scene.note("download") {
                try await scene.session.download("a", to: .file("\(scene.folder.path)/file"))
            }
            scene.noteCache()
        },
        Scenario("cache-revalidated", configure: withCache) { scene in
            scene.server.enqueue(
                .response(fields: stale(), body: "old"), .response(304, fields: stale()),
                .response(fields: ["Cache-Control": "max-age=100000", "ETag": "\"2\""], body: "new"))
            for label in ["miss", "the same", "changed", "hit"] { await scene.noteGet(label) }
            scene.noteCache()
        },
        Scenario("cache-stale-while-revalidated", configure: withCache) { scene in
            scene.server.enqueue(
                .response(fields: stale("stale-while-revalidate=100000"), body: "old"),
                .response(fields: ["Cache-Control": "max-age=100000", "ETag": "\"2\""], body: "new"))
            await scene.noteGet("miss")
            await scene.noteGet("stale")
            try await scene.stage.eventually("the new one is stored") {
                await scene.session.configuration.cache?.entries().first?.fields["etag"] == "\"2\""
            }
            await scene.noteGet("hit")
            scene.noteCache()
        },
        Scenario("cache-stale-if-error", configure: withCache) { scene in
            scene.server.enqueue(
                LoopbackServer.Reply.response(fields: stale("stale-if-error=100000"), body: "old").closingAfter,
                LoopbackServer.Reply.response(body: "x").resetAfter(0), .response(503, body: "busy"),
                .response(404, body: "gone"))
            for label in ["miss", "after a reset", "after a 503", "gone"] { await scene.noteGet(label) }
            scene.noteCache()
        },
        Scenario("cache-only", configure: withCache) { scene in
            scene.server.enqueue(.response(fields: stale(), body: "old"))
            let only = HTTPSession.Options(cacheMode: .storedOnly)
            await scene.noteGet("nothing stored", "a", only)
            await scene.noteGet("by a field", "a", .init(fields: ["Cache-Control": "only-if-cached"]))
            await scene.noteGet("miss")
            await scene.noteGet("stored", "a", only)
            scene.noteCache()
        },
        Scenario("cache-emptied", configure: withCache) { scene in
            scene.server.enqueue(
                .response(fields: fresh, body: "one"), .response(404, body: "none"), .response(body: "done"),
                .response(fields: fresh, body: "two"))
            await scene.noteGet("miss")
            for label in ["refused", "done"] {
                await scene.note(label) { try await scene.session.post("a", body: .string("x"), as: .string) }
                await scene.noteGet("get")
            }
            scene.noteCache()
        },
        Scenario("cache-redirect", configure: withCache) { scene in
            scene.server.enqueue(
                .response(301, fields: ["Location": "/b", "Cache-Control": "max-age=100000"], body: "moved"),
                .response(body: "here"), .response(body: "here again"))
            await scene.noteGet("asked")
            await scene.noteGet("remembered")
            scene.noteCache()
        },
        Scenario("cache-and-a-hook", configure: withCache) { scene in
            scene.server.respond { _ in .response(fields: fresh, body: "hello") }
            var options = HTTPSession.Options()
            options.hooks.storing = { _, _ in .skip }
            await scene.noteGet("skipped", "a", options)
            options.hooks.storing = { _, head in
                RecordingHooks.transcript?.note("about to store \(head.status.code)")
                return .storeWith(["Cache-Control": "no-cache", "ETag": "\"own\""])
            }
            await scene.noteGet("with other fields", "a", options)
            await scene.noteGet("asked about", "a", options)
            scene.noteCache()
        },
        Scenario("cache-coded", configure: withCache) { scene in
            scene.server.enqueue(
                .response(
                    fields: ["Cache-Control": "max-age=100000", "Content-Encoding": "gzip", "Vary": "Accept-Encoding"],
                    body: try `Content codings`.coded(Bytes(Array(repeating: 65, count: 5000)), [.gzip])))
            for label in ["miss", "hit"] {
                await scene.note(label) { try await scene.session.get("a", as: .bytes) }
            }
        },
        Scenario("cache-broken-body", hasManualClock: true, chancy: Set(HTTP.Phase.allCases), configure: withCache) {
            scene in
            scene.server.serve(
                .init(length: 3000, tag: "\"v1\"", fields: ["Cache-Control": "max-age=100000"]), at: "/a",
                faults: .short(after: 1000))
            for label in ["broken", "gone on with", "hit"] {
                await scene.note(label) { try await scene.session.get("a", as: .bytes) }
            }
            scene.noteCache()
        },
    ]

    /// Requests that meet at the cache, leave it early, or are sent as one.
    static let cachedTogether: [Scenario] = [
        Scenario("cache-stream-left-early", configure: withCache) { scene in
            scene.server.enqueue(.response(fields: fresh, body: "hello"))
            for label in ["miss", "hit"] {
                await scene.note(label) {
                    try await scene.session.withResponse(from: "a") { response in
                        for try await _ in response.body { break }
                        return "\(response.status.code)" + scene.transcript.text(response.cacheUse)
                    }
                }
            }
            scene.noteCache()
        },
        Scenario("cache-cancelled-while-it-stores", chancy: Set(HTTP.Phase.allCases), configure: withCache) { scene in
            scene.server.serve(
                .init(length: 3000, tag: "\"v1\"", fields: ["Cache-Control": "max-age=100000"]), at: "/a",
                faults: .stall(after: 1000))
            let count = Last()
            let running = Task {
                await scene.note("cancelled") {
                    try await scene.session.withResponse(from: "a") { response in
                        for try await piece in response.body { count.add(piece.count) }
                    }
                }
            }
            try await scene.stage.eventually("some has come") { count.sum == 1000 }
            running.cancel()
            await running.value
            await scene.note("again") { try await scene.session.get("a", as: .bytes) }
            await scene.note("hit") { try await scene.session.get("a", as: .bytes) }
            scene.noteCache()
        },
        Scenario("coalesced-pair", configure: coalescing) { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.enqueue(LoopbackServer.Reply.response(fields: fresh, body: "hello").waiting(for: goOn))
            let (first, second) = try await scene.beginPair()
            goOn.open()
            await scene.note("first") { try await first.response }
            await scene.note("second") { try await second.response }
            await scene.noteGet("hit")
            scene.noteCache()
        },
        Scenario("coalesced-pair-fails", configure: coalescing) { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.enqueue([.waitForSignal(goOn), .close], .response(fields: fresh, body: "hello"))
            let (first, second) = try await scene.beginPair()
            goOn.open()
            await scene.note("first") { try await first.response }
            await scene.note("second") { try await second.response }
            await scene.noteGet("afterwards")
            scene.noteCache()
        },
        Scenario("coalesced-first-is-cancelled", configure: coalescing) { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.enqueue([.stall], LoopbackServer.Reply.response(body: "hello").waiting(for: goOn))
            let (first, second) = try await scene.beginPair()
            first.cancel()
            await scene.note("first") { try await first.response }
            _ = try await scene.server.waitForRequests(2)
            goOn.open()
            await scene.note("second") { try await second.response }
        },
        Scenario("coalesced-second-is-cancelled", configure: coalescing) { scene in
            let goOn = LoopbackServer.Gate()
            scene.server.enqueue(LoopbackServer.Reply.response(body: "hello").waiting(for: goOn))
            let (first, second) = try await scene.beginPair()
            second.cancel()
            await scene.note("second") { try await second.response }
            goOn.open()
            await scene.note("first") { try await first.response }
        },
    ]

    private static let fresh: Fields = ["Cache-Control": "max-age=100000", "ETag": "\"1\""]

    /// Stale at once.
    private static func stale(_ directive: String? = nil) -> Fields {
        ["Cache-Control": "max-age=0" + (directive.map { ", \($0)" } ?? ""), "ETag": "\"1\""]
    }

    static let withCache: @Sendable (inout HTTPSession.Configuration) -> Void = { $0.cache = HTTPSession.Cache() }

    private static let coalescing: @Sendable (inout HTTPSession.Configuration) -> Void = {
        withCache(&$0)
        $0.coalescing.isOn = true
    }
}

extension Scene {
    /// Notes what the cache has counted, and what it has.
    func noteCache() {
        guard let gauges = session.configuration.cache?.gauges else { return }
        transcript.note(
            "cache: \(gauges.hits) hits, \(gauges.stale) stale, \(gauges.revalidated) revalidated,"
                + " \(gauges.misses) misses, \(gauges.urls) URLs")
    }

    /// Two requests that are sent as one: the first has been sent, and the second waits for it.
    fileprivate func beginPair() async throws -> (
        HTTPSession.RequestTask<String>, HTTPSession.RequestTask<String>
    ) {
        let first = try await begin("a", running: true)
        _ = try await server.waitForRequests(1)
        await noteTasks("one is sent")
        let second = try session.task("a", as: .string)
        second.resume()
        try await stage.eventually("the other waits for it") { await session.gauges().coalesced == 1 }
        await noteTasks("both run")
        return (first, second)
    }
}
