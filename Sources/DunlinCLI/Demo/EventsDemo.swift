import Dunlin
import DunlinTesting

/// Server-sent events from a server that closes the stream in the middle.
struct EventsDemo: DemoPart {
    let title = "Events that reconnect"
    let code = #"client.events("news", until: "[DONE]")"#

    func run(on page: DemoPage) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        // The server closes the stream once its first event is on the page, however slow the machine is.
        let isShown = LoopbackServer.Gate()
        server.route("/news") { attempt, _ in
            attempt == 0
                ? Self.reply(["id: 1\ndata: They leave Iceland.\n\n"], then: [.waitForSignal(isShown)])
                : Self.reply(["id: 2\ndata: They winter at the Banc d'Arguin.\n\n", "data: [DONE]\n\n"])
        }
        try await withSession(.init(baseURL: server.baseURL)) { client in
            let events = client.events("news", until: "[DONE]")
            var attempt = 1
            for try await event in events {
                if events.attempt > attempt {
                    attempt = events.attempt
                    let id = server.requests.last?.fields["Last-Event-ID"] ?? "none"
                    page.say("Closed by the server. The next request: Last-Event-ID: \(id)")
                }
                page.say("event \(event.id)  \(event.data)")
                isShown.open()
            }
        }
    }

    /// Some of the events, one at a time. The connection ends with them, after `last`.
    private static func reply(
        _ events: [String], then last: [LoopbackServer.Step] = []
    ) -> LoopbackServer.Reply {
        let whole = LoopbackServer.Reply.chunked(
            [Bytes("retry: 600\n\n")] + events.map { Bytes($0) }, fields: ["Content-Type": "text/event-stream"])
        return LoopbackServer.Reply(whole.steps.flatMap { [$0, .pause(.milliseconds(220))] } + last + [.close])
    }
}
