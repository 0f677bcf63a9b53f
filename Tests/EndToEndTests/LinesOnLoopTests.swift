import Dunlin
import DunlinTesting
import Testing

/// A reader on a loop must let other requests of the loop go on.
@Suite(.timeLimit(.minutes(10))) struct `A stream of short lines` {
    enum Reading: CaseIterable, Sendable {
        case comments
        case events
        case lines
    }

    @Test(arguments: Reading.allCases)
    func `a reader on the loop lets other requests go on, and ends at its limit`(reading: Reading) async throws {
        let line = reading == .events ? "data:\n\n" : ":\n"
        // Enough for minutes.
        let flood = LoopbackServer.Step.send(Bytes(String(repeating: line, count: 4_000_000)))
        try await Stage.with(oneLoop: true, tolerating: true) { (stage: Stage) async throws in
            let go = LoopbackServer.Gate()
            stage.server.respond { request in
                if request.target == "/other" { return .response(body: "other") }
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                return [.send(Bytes(head)), .waitForSignal(go), flood, flood, flood, flood, .stall]
            }
            _ = try await stage.session.get("other", as: .string)
            let session = stage.session
            let reader = Task {
                try await session.onEventLoop { @concurrent in
                    switch reading {
                    case .comments, .events: for try await _ in session.events("flood", timeout: .seconds(15)) {}
                    case .lines:
                        try await session.withResponse(from: "flood", timeout: .seconds(15)) { response in
                            for try await _ in response.lines {}
                        }
                    }
                }
            }
            _ = try await stage.server.waitForRequests(2)
            go.open()
            #expect(try await session.get("other", timeout: .seconds(10), as: .string).value == "other")
            let error = await #expect(throws: NetworkError.self) { try await reader.value }
            #expect(error?.code == .timedOut)
        }
    }
}
