import Dunlin
import DunlinTesting
import Testing

/// What a server that others wrote makes of our frames, and we of its.
@Suite(.needsPythonWebSockets, .timeLimit(.minutes(10)), .serialized)
struct `Against Python's websockets` {
    @Test(arguments: [false, true])
    func `messages of all lengths come back, compressed where that was asked for`(compressing: Bool) async throws {
        try await PythonWebSockets.with { url in
            let session = try HTTPSession()
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = compressing ? .init() : nil
            try await session.withWebSocket(.url("\(url)/echo"), subprotocols: ["a", "b"], settings: settings) {
                #expect($0.subprotocol == "b" && $0.isCompressed == compressing)
                var messages = $0.messages.makeAsyncIterator()
                for count in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
                    let text = String(repeating: "\u{20AC}", count: count)
                    try await $0.send(text)
                    #expect(try await messages.next() == .text(text))
                    let bytes = LoopbackServer.GeneratedBody.bytes(0..<count)
                    try await $0.send(bytes)
                    #expect(try await messages.next() == .binary(bytes))
                }
                #expect(try await $0.ping() > .zero)
            }
            await session.shutdown()
        }
    }

    @Test func `its fragments are one message, and its close ends the messages`() async throws {
        try await PythonWebSockets.with { url in
            let session = try HTTPSession()
            let pieces = try await session.webSocket(.url("\(url)/pieces"))
            var messages: [HTTPSession.WebSocket.Message] = []
            for try await message in pieces.messages { messages.append(message) }
            #expect(messages == [.text("one, two, three")] && pieces.closeCode == .normal)
            let closed = try await session.webSocket(.url("\(url)/close"))
            for try await _ in closed.messages { Issue.record("a message") }
            #expect(closed.closeCode?.rawValue == 4001 && closed.closeReason == "go away")
            await session.shutdown()
        }
    }

    @Test func `it takes a message in pieces, and answers our close`() async throws {
        try await PythonWebSockets.with { url in
            let session = try HTTPSession()
            let echo = try await session.webSocket(.url("\(url)/echo"))
            try await echo.send(
                AsyncStream { continuation in
                    for piece in ["a", "b", "c"] { continuation.yield(piece) }
                    continuation.finish()
                })
            var messages = echo.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("abc"))
            let silent = try await session.webSocket(.url("\(url)/silent"))
            try await silent.close(.goingAway, reason: "enough")
            #expect(silent.closeCode == .goingAway)
            try await echo.close()
            await session.shutdown()
        }
    }
}
