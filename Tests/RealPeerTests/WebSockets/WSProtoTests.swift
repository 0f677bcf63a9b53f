import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// What a second server that others wrote makes of our frames, and we of its.
@Suite(.needsWSProto, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Against wsproto` {
    @Test(arguments: [true, false], [true, false])
    func `messages of all lengths come back`(isSecure: Bool, compressing: Bool) async throws {
        try await WSProto.with(isSecure: isSecure) { session in
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = compressing ? .init() : nil
            for form in EchoedMessages.Form.allCases {
                let path: HTTP.Target = compressing ? "deflate" : "echo"
                try await session.withWebSocket(path, subprotocols: ["a", "b"], settings: settings) { socket in
                    #expect(socket.subprotocol == "b" && socket.isCompressed == compressing)
                    try await EchoedMessages.exchange(over: socket, form)
                    #expect(try await socket.ping() > .zero)
                }
            }
        }
    }

    @Test(arguments: [true, false])
    func `either side closes, and both know the code`(isSecure: Bool) async throws {
        try await WSProto.with(isSecure: isSecure) { session in
            let closed = try await session.webSocket("close")
            for try await _ in closed.messages { Issue.record("a message") }
            #expect(closed.closeCode?.rawValue == 4001 && closed.closeReason == "go away")
            let echo = try await session.webSocket("echo")
            try await echo.close(.goingAway, reason: "enough")
            #expect(echo.closeCode == .goingAway && echo.closeReason == "enough")
        }
    }

    @Test(arguments: [true, false])
    func `a refusal has its status and body`(isSecure: Bool) async throws {
        try await WSProto.with(isSecure: isSecure) { session in
            let error = try await NetworkError.thrown { _ = try await session.webSocket("no") }
            #expect(error.code == .upgradeRefused && error.response?.status == .forbidden && error.body == "gone")
        }
    }
}
