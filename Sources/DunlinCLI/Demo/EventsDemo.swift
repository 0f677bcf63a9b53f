import Dunlin
import DunlinTesting

/// Server-sent events from a server that closes the stream in the middle.
struct EventsDemo: DemoPart {
    let title = "Events that reconnect"
    let code = #"client.events("news", until: "[DONE]")"#

    private static let news = ["They leave Iceland.", "They winter at the Banc d'Arguin."]

    func run(on page: DemoPage) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.route("/news") { attempt, _ in attempt == 0 ? Self.reply(0..<1) : Self.reply(1..<2, "data: [DONE]\n\n") }
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
            }
        }
    }

    /// Some of the events, one at a time. The connection ends with them.
    private static func reply(_ range: Range<Int>, _ end: String = "") -> LoopbackServer.Reply {
        let events = range.map { "id: \($0 + 1)\ndata: \(news[$0])\n\n" } + (end.isEmpty ? [] : [end])
        let whole = LoopbackServer.Reply.chunked(
            [Bytes("retry: 600\n\n")] + events.map { Bytes($0) }, fields: ["Content-Type": "text/event-stream"])
        return LoopbackServer.Reply(whole.steps.flatMap { [$0, .pause(.milliseconds(220))] } + [.close])
    }
}
