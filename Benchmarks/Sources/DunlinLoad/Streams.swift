import BenchmarkLoad
import Dunlin

/// The server's stream ends with this event; the length of a reply is the number of events before it.
private let sentinel = "[DONE]"

struct ReadEvents: Sender {
    let session: HTTPSession
    let target: HTTP.Target

    func send() async throws -> Reply {
        var count = 0
        for try await event in session.events(target, until: sentinel) where !event.data.isEmpty { count += 1 }
        return Reply(status: 200, length: count)
    }
}

struct ReadDeltas: Sender {
    let session: HTTPSession
    let target: HTTP.Target

    private struct Delta: Decodable {
        let id: Int
        let text: String
    }

    func send() async throws -> Reply {
        var count = 0
        for try await delta in session.events(target, until: sentinel, as: Delta.self) where !delta.text.isEmpty {
            count += 1
        }
        return Reply(status: 200, length: count)
    }
}

/// The lines that are not empty: one for each event, and the sentinel's.
struct ReadLines: Sender {
    let session: HTTPSession
    let target: HTTP.Target

    func send() async throws -> Reply {
        try await session.withResponse(from: target) { response in
            var count = -1
            for try await line in response.lines where !line.isEmpty { count += 1 }
            return Reply(status: response.status.code, length: count)
        }
    }
}
