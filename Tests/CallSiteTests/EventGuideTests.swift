import Dunlin
import DunlinTesting
import Testing

/// The snippets of the guide about streams that resume, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guide to events that resume` {
    nonisolated struct Prompt: Encodable { var text: String }
    nonisolated struct Delta: Decodable { var text: String }

    func chat(_ client: HTTPSession, _ prompt: Prompt) async throws -> String {
        var text = ""
        let deltas = client.events(
            "v1/chat", json: prompt, until: "[DONE]",
            settings: .init(repeatsNonIdempotent: true),
            options: .init(retry: .exponential(attempts: 4)), as: Delta.self)
        for try await delta in deltas { text += delta.text }
        return text
    }

    private let transport = MockTransport()
    private let clock = ManualClock()
    private let client: HTTPSession

    init() throws {
        let (transport, clock) = (transport, clock)
        client = try HTTPSession(baseURL: "https://api.test/") {
            $0.transport = transport
            try $0.use(clock)
        }
    }

    @Test func `the example about a chat goes on after a break`() async throws {
        let type: Fields = ["Content-Type": "text/event-stream"]
        transport.on(.post, "/v1/chat")
            .stream(["id: 1\ndata: {\"text\":\"hel\"}\n\ndata: {\"te"], fields: type)
            .thenStream(["data: {\"text\":\"lo\"}\n\ndata: [DONE]\n\n"], fields: type)
        let text = try await clock.skippingWaits { try await chat(client, Prompt(text: "hi")) }
        #expect(text == "hello")
        #expect(transport.requests.map { $0.fields["Last-Event-ID"] } == [nil, "1"])
        #expect(transport.requests.allSatisfy { $0.body == #"{"text":"hi"}"# })
    }

    @Test func `the example about a chat waits for a server that is busy, and sends no prompt again after a delta`()
        async throws
    {
        let type: Fields = ["Content-Type": "text/event-stream"]
        transport.on(.post, "/v1/chat").respond(429, fields: ["Retry-After": "2"]).thenRespond(503)
            .thenStream(["data: {\"text\":\"hel\"}\n\n"], fields: type)
        let error = try await NetworkError.thrown {
            try await clock.skippingWaits { _ = try await chat(client, Prompt(text: "hi")) }
        }
        #expect(error.code == .connectionClosed && error.reason.contains("the server sent no event ID"), "\(error)")
        #expect(transport.requests.count == 3)
    }

    @Test func `the example about news keeps the last ID`() async throws {
        transport.on(.get, "/v1/news")
            .stream(["id: 8\ndata: a\n\n"], fields: ["Content-Type": "text/event-stream"]).thenRespond(.noContent)
        var last = "7"
        try await clock.skippingWaits {
            for try await event in client.events("v1/news", after: last) {
                last = event.id
            }
        }
        #expect(last == "8" && transport.requests.map { $0.fields["Last-Event-ID"] } == ["7", "8"])
    }
}
