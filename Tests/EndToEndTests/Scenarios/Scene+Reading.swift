import Dunlin
import DunlinTesting

/// Responses that stand still in the middle of their bodies.
extension Scene {
    private static let half: LoopbackServer.Reply = [
        .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .stall,
    ]

    /// Reads such a response, and returns once a piece of it is here.
    func reading() async throws -> Task<Void, Never> {
        server.enqueue(Self.half)
        let reached = LoopbackServer.Gate()
        let running = Task {
            await note("stream") {
                try await session.withResponse(from: "a") { response in
                    for try await _ in response.body { reached.open() }
                }
            }
        }
        try await reached.opened()
        return running
    }

    /// Leaves such a response after a piece. The next one is whole.
    func leaveAfterAPiece() async {
        server.enqueue(Self.half, .response(body: "next"))
        await note("stream") {
            try await session.withResponse(from: "a") { response in
                for try await _ in response.body { break }
                return response.status.code
            }
        }
    }
}
