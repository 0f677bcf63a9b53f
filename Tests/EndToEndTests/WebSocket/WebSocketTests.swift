import Dunlin
import DunlinTesting
import DunlinTypes
import LedgerRows
import Synchronization
import Testing

@Suite(.inClearAndOverTLS, .timeLimit(.minutes(10)))
struct `WebSockets` {
    /// What a server answers that compresses as it is asked to.
    private static let compressing: Fields = ["Sec-WebSocket-Extensions": "permessage-deflate"]

    private static func settings(compressing: Bool) -> HTTPSession.WebSocketSettings {
        var settings = HTTPSession.WebSocketSettings()
        settings.compression = compressing ? .init() : nil
        return settings
    }

    /// Has the server send back each message.
    private static func echo(_ stage: Stage, compressing: Bool = false) {
        let fields = compressing ? Self.compressing : Fields()
        stage.server.respond { .webSocket(answering: $0, fields: fields, .echoMessages) }
    }

    @Test(arguments: [false, true])
    func `messages come back as they were sent`(compressing: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            Self.echo(stage, compressing: compressing)
            let url = stage.server.baseURL.replacing("http", with: "ws", maxReplacements: 1)
            let settings = Self.settings(compressing: compressing)
            try await stage.session.withWebSocket(.url(url + "/chat"), settings: settings) { socket in
                #expect(socket.isCompressed == compressing)
                var messages = socket.messages.makeAsyncIterator()
                for count in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
                    let text = String(repeating: "\u{E9}", count: count)
                    try await socket.send(text)
                    #expect(try await messages.next() == .text(text))
                    let bytes = LoopbackServer.GeneratedBody.bytes(0..<count)
                    try await socket.send(bytes)
                    #expect(try await messages.next() == .binary(bytes))
                }
                _ = try await socket.ping()
                try await socket.close(reason: "done")
                #expect(socket.closeCode == .normal && socket.closeReason == "done")
            }
        }
    }

    @Test(arguments: [false, true])
    func `fifty megabytes go both ways at once, and each side waits for the other`(compressing: Bool) async throws {
        try await Stage.with { (stage: Stage) async throws in
            Self.echo(stage, compressing: compressing)
            let (count, size) = (50, 1 << 20)
            let settings = Self.settings(compressing: compressing)
            try await stage.session.withWebSocket("chat", settings: settings) { socket in
                let sending = Task {
                    for index in 0..<count {
                        let start = index * size
                        try await socket.send(LoopbackServer.GeneratedBody.bytes(start..<start + size))
                    }
                }
                var messages = socket.messages.makeAsyncIterator()
                for index in 0..<count {
                    let start = index * size
                    let expected = LoopbackServer.GeneratedBody.bytes(start..<start + size)
                    #expect(try await messages.next() == .binary(expected))
                }
                try await sending.value
            }
        }
    }

    @Test func `compressed messages that repeat each other are short, unless each stands for itself`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            Self.echo(stage, compressing: true)
            // Random enough not to become shorter by itself.
            let bytes = LoopbackServer.GeneratedBody.bytes(0..<4000)
            var settings = Self.settings(compressing: true)
            let sent = try await Self.bytesSent(twice: bytes, settings, stage)
            settings.compression?.keepsContext = false
            stage.server.respond {
                let answer = "permessage-deflate; client_no_context_takeover; server_no_context_takeover"
                return .webSocket(answering: $0, fields: ["Sec-WebSocket-Extensions": answer], .echoMessages)
            }
            let alone = try await Self.bytesSent(twice: bytes, settings, stage)
            #expect(sent.second < 200 && alone.second == alone.first, "\(sent), \(alone)")
        }
    }

    private static func bytesSent(
        twice bytes: Bytes, _ settings: HTTPSession.WebSocketSettings, _ stage: Stage
    ) async throws -> (first: Int, second: Int) {
        try await stage.session.withWebSocket("chat", settings: settings) { socket in
            var sent = [socket.metrics.hops.last?.bytesSent ?? 0]
            var messages = socket.messages.makeAsyncIterator()
            for _ in 0..<2 {
                try await socket.send(bytes)
                sent.append(socket.metrics.hops.last?.bytesSent ?? 0)
                #expect(try await messages.next() == .binary(bytes))
            }
            return (sent[1] - sent[0], sent[2] - sent[1])
        }
    }

    @Test func `little that becomes much is decompressed as it is taken, and up to the limit`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.echo(stage, compressing: true)
            var settings = Self.settings(compressing: true)
            settings.messageLimit = 1_000_000
            let socket = try await stage.session.webSocket("chat", settings: settings)
            let zeros = Bytes([UInt8](repeating: 0, count: 1_000_000))
            try await socket.send(zeros)
            try await socket.send(Bytes([UInt8](repeating: 0, count: 1_000_001)))
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .binary(zeros))
            let error = try await NetworkError.thrown { _ = try await messages.next() }
            #expect(error.code == .limitExceeded, "\(error)")
        }
    }

    @Test func `a sender waits while nobody takes what comes back`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.echo(stage)
            let sent = Atomic(0)
            let sending = Task {
                let bytes = Bytes([UInt8](repeating: 7, count: 1 << 20))
                try await stage.session.withWebSocket("chat") { socket in
                    while true {
                        try await socket.send(bytes)
                        sent.add(1, ordering: .relaxed)
                    }
                }
            }
            // The server stands still because its own sends are not read.
            try await stage.server.wait { $0.blockedSends > 0 }
            sending.cancel()
            let outcome = await sending.result
            #expect(throws: CancellationError.self) { try outcome.get() }
            #expect(sent.load(ordering: .relaxed) < 64)
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test func `a server that goes in the middle is a lost connection`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.respond { .webSocket(answering: $0, .frame(.text("a")), .expectFrame(.text("b")), .reset) }
            let socket = try await stage.session.webSocket("chat")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("a"))
            try await socket.send("b")
            let error = try await NetworkError.thrown { _ = try await messages.next() }
            #expect(error.code == .connectionClosed && socket.closeCode == .abnormal)
        }
    }

    /// The clock stands, so that a slow machine has its second for what is discarded. The step `generate` would take
    /// the end of the client's writing for the end of the connection.
    @Test(.rules("6455-7.1.1-2"))
    func `a server that is still sending when it breaks a rule learns why the connection is closed`() async throws {
        try await Stage.with(clock: ManualClock()) { (stage: Stage) async throws in
            let read = LoopbackServer.Gate()
            let rest = LoopbackServer.GeneratedBody.bytes(0..<(8 << 20))
            stage.server.respond {
                .webSocket(
                    answering: $0, .send([0xC1, 0x00]), .send(rest), .expectFrame(.close(1002)), .signal(read))
            }
            let error = try await NetworkError.thrown {
                try await stage.session.withWebSocket("chat") { socket in for try await _ in socket.messages {} }
            }
            #expect(error.code == .webSocketFailed)
            try await read.opened()
        }
    }

    @Test func `cookies, credentials and fields of the session go with the handshake`() async throws {
        let jar = CookieJar()
        try await Stage.with { configuration in
            configuration.cookies = jar
            configuration.credentials = .bearer(token: "secret")
        } _: { (stage: Stage) async throws in
            stage.server.respond {
                .webSocket(answering: $0, fields: ["Set-Cookie": "a=1"], .echoMessages)
            }
            for _ in 0..<2 { try await stage.session.withWebSocket("chat") { _ in } }
            let requests = stage.server.requests
            #expect(requests.map { $0.fields["Authorization"] } == ["Bearer secret", "Bearer secret"])
            #expect(requests.map { $0.fields["Cookie"] } == [nil, "a=1"])
        }
    }

    @Test(.rules("6455-4.1-18")) func `a redirect is followed to the socket of another server, which gets no secret`()
        async throws
    {
        try await Stage.with { (stage: Stage) async throws in
            let other = try Stage.makeServer()
            defer { other.stop() }
            other.respond { .webSocket(answering: $0, .frame(.text("b")), .frame(.close(1000))) }
            let url = "\(Stage.isSecure ? "wss" : "ws")://127.0.0.1:\(other.port)/new"
            stage.server.respond { _ in .response(.found, fields: ["Location": url]) }
            let fields: Fields = ["Authorization": "Bearer t"]
            let messages = try await stage.session.withWebSocket("chat", fields: fields) { socket in
                #expect(socket.url.hasSuffix(":\(other.port)/new"))
                return try await socket.messages.reduce(into: []) { $0.append($1) }
            }
            #expect(messages == [.text("b")] && stage.server.requests.first?.fields["Authorization"] != nil)
            #expect(other.requests.map { $0.fields["Authorization"] } == [nil])
        }
    }

    @Test func `a redirect from wss to ws is refused`() async throws {
        try await SecureStage.with { (stage: SecureStage) async throws in
            stage.server.enqueue(.response(.found, fields: ["Location": "ws://127.0.0.1:9/"]))
            let error = try await NetworkError.thrown { _ = try await stage.session.webSocket("chat") }
            #expect(error.code == .insecureRedirect && error.response?.status == .found)
        }
    }

    @Test func `a socket that reconnects finds a server that was restarted`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            stage.server.enqueue(.response(.serviceUnavailable))
            stage.server.respond {
                .webSocket(answering: $0, .expectFrame(.text("0")), .frame(.text("1")), .frame(.close(1012)))
            }
            var seen = 0
            let policy = HTTPSession.RetryPolicy.constant(attempts: 5, every: .milliseconds(1))
            let attempt = try await stage.session.withWebSocket("chat", reconnecting: policy) { socket in
                try await socket.send("0")
                for try await _ in socket.messages {
                    seen += 1
                    if seen == 2 { break }
                }
                return socket.reconnection?.attempt
            }
            #expect(attempt == 3 && seen == 2 && stage.server.requests.count == 3)
        }
    }
}

// MARK: - Many, and the end

extension `WebSockets` {
    @Test func `whatever is cancelled, nothing is left`() async throws {
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.echo(stage)
            var random = SeededGenerator(seed: 7)
            for _ in 0..<60 {
                let pauses = Int.random(in: 0..<40, using: &random)
                let task = Task {
                    try await stage.session.withWebSocket("chat") { socket in
                        async let sending: Void = {
                            while true { try await socket.send(Bytes([UInt8](repeating: 1, count: 200_000))) }
                        }()
                        async let pinging: Void = { while true { try await socket.ping() } }()
                        for try await _ in socket.messages {}
                        try await sending
                        try await pinging
                    }
                }
                for _ in 0..<pauses { await Task.yield() }
                task.cancel()
                _ = await task.result
            }
            try await stage.server.wait { $0.open == 0 }
        }
    }

    @Test func `a shutdown with grace closes a socket properly, and one without at once`() async throws {
        try await Stage.with { (stage: Stage) async throws in
            Self.echo(stage)
            let sockets = [try await stage.session.webSocket("chat"), try await stage.session.webSocket("chat")]
            #expect(await stage.session.shutdown(grace: .seconds(1000)) == 0)
            #expect(sockets.map(\.closeCode) == [.goingAway, .goingAway])
        }
        try await Stage.with(tolerating: true) { (stage: Stage) async throws in
            Self.echo(stage)
            let socket = try await stage.session.webSocket("chat")
            async let reading = NetworkError.thrown { for try await _ in socket.messages {} }
            await stage.session.shutdown()
            _ = try await reading
            #expect(!socket.isOpen)
        }
    }

    @Test(arguments: [true, false])
    func `a suspended socket moves nothing, and is lost if it is pinged meanwhile`(isPinged: Bool) async throws {
        let clock = ManualClock()
        try await Stage.with(clock: clock, tolerating: true) { stage in
            Self.echo(stage)
            var settings = HTTPSession.WebSocketSettings()
            if !isPinged { settings.pingInterval = nil }
            let socket = try await stage.session.webSocket("chat", settings: settings)
            let id = try #require(await stage.session.tasks.all.first?.id)
            let delegate = try #require(await stage.session.tasks[id])
            #expect(delegate.suspend())
            let before = socket.metrics.hops.last?.bytesSent
            let sending = Task { try await socket.send("a") }
            try await clock.advance(by: .seconds(31))
            try await clock.advance(by: .seconds(21))
            #expect(socket.metrics.hops.last?.bytesSent == before)
            var messages = socket.messages.makeAsyncIterator()
            if isPinged {
                let error = try await NetworkError.thrown { _ = try await messages.next() }
                #expect(error.code == .timedOut)
                let cut = try await NetworkError.thrown { try await sending.value }
                #expect(cut.code == .timedOut && cut.reason == error.reason)
            } else {
                #expect(delegate.resume())
                #expect(try await messages.next() == .text("a"))
                try await sending.value
                try await socket.close()
            }
        }
    }
}
