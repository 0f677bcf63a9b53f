import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// WebSockets that nginx passes on to a server behind it.
@Suite(.needsNginx, .needsPythonWebSockets, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `WebSockets through nginx` {
    private static func with(isSecure: Bool, _ play: (HTTPSession, Nginx) async throws -> Void) async throws {
        let authority = try CertificateAuthority()
        let security = isSecure ? Nginx.Security(try authority.issue(.server("127.0.0.1"))) : nil
        try await PythonWebSockets.withPort { port in
            try await Nginx.with(security, upstream: port) { nginx in
                try await SecureSession.with(authority, at: nginx.baseURL) { try await play($0, nginx) }
            }
        }
    }

    @Test(arguments: [true, false], EchoedMessages.Form.allCases)
    func `messages of all lengths come back`(isSecure: Bool, form: EchoedMessages.Form) async throws {
        try await Self.with(isSecure: isSecure) { session, _ in
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = form == .pieces ? .init() : nil
            try await session.withWebSocket("passed/echo", subprotocols: ["b"], settings: settings) { socket in
                #expect(socket.subprotocol == "b" && socket.isCompressed == (form == .pieces))
                try await EchoedMessages.exchange(over: socket, form)
                let bytes = LoopbackServer.GeneratedBody.bytes(0..<5_000_000)
                async let sent: Void = socket.send(bytes)
                var messages = socket.messages.makeAsyncIterator()
                #expect(try await messages.next() == .binary(bytes))
                try await sent
                #expect(try await socket.ping() > .zero)
            }
        }
    }

    @Test(arguments: [true, false])
    func `either side closes, and both know the code`(isSecure: Bool) async throws {
        try await Self.with(isSecure: isSecure) { session, _ in
            let closed = try await session.webSocket("passed/close")
            for try await _ in closed.messages { Issue.record("a message") }
            #expect(closed.closeCode?.rawValue == 4001 && closed.closeReason == "go away")
            let silent = try await session.webSocket("passed/silent")
            try await silent.close(.goingAway, reason: "enough")
            #expect(silent.closeCode == .goingAway)
            #expect(session.connections.open == 0)
        }
    }

    @Test(arguments: [true, false])
    func `an upgrade that is not passed on is refused with the answer of the server behind`(isSecure: Bool) async throws
    {
        try await Self.with(isSecure: isSecure) { session, _ in
            let error = try await NetworkError.thrown { _ = try await session.webSocket("plain/echo") }
            #expect(error.code == .upgradeRefused && error.response?.status == .upgradeRequired, "\(error)")
            #expect(error.body?.isEmpty == false)
            // What nginx has for everybody is served as before.
            #expect(try await session.get("hello", as: .string).value == "hello")
            let missing = try await NetworkError.thrown { _ = try await session.webSocket("nothing") }
            #expect(missing.code == .upgradeRefused && missing.response?.status == .notFound, "\(missing)")
        }
    }

    @Test(arguments: [true, false])
    func `a silence that nginx does not allow is a lost connection, and pings prevent it`(isSecure: Bool) async throws {
        try await Self.with(isSecure: isSecure) { session, _ in
            let lost = try await session.webSocket("brief/silent")
            let error = try await NetworkError.thrown { for try await _ in lost.messages {} }
            #expect(error.code == .connectionClosed && error.phase == .receive, "\(error)")
            #expect(lost.closeCode == .abnormal && !lost.isOpen)
            await #expect(throws: NetworkError.self) { try await lost.send("too late") }
            var settings = HTTPSession.WebSocketSettings()
            settings.pingInterval = .milliseconds(200)
            try await session.withWebSocket("brief/echo", settings: settings) { socket in
                func received() -> Int { socket.metrics.hops.last?.bytesReceived ?? 0 }
                let before = received()
                try await socket.ping()
                let pong = received() - before
                // So many take longer than nginx waits.
                try await eventually("twenty pongs have come") { received() >= before + 20 * pong || !socket.isOpen }
                try await socket.send("still here")
                var messages = socket.messages.makeAsyncIterator()
                #expect(try await messages.next() == .text("still here"))
            }
        }
    }

    @Test(arguments: [true, false])
    func `a server that is gone is a lost connection, and nginx is one`(isSecure: Bool) async throws {
        try await Self.with(isSecure: isSecure) { session, nginx in
            let socket = try await session.webSocket("passed/echo")
            nginx.stop()
            let error = try await NetworkError.thrown { for try await _ in socket.messages {} }
            #expect(error.code == .connectionClosed && socket.closeCode == .abnormal, "\(error)")
        }
    }
}
