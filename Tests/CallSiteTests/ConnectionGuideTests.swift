import Dunlin
import DunlinTesting
import Synchronization
import Testing

/// The snippets of the guides about connections that are upgraded and about WebSockets, word for word.
@Suite(.timeLimit(.minutes(10)))
struct `Guides to upgraded connections and WebSockets` {
    private final class Screen: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let screen = Screen()
    private let transport = MockTransport()
    private let peer = MockWebSocket()
    private let client: HTTPSession

    init() throws {
        let transport = transport
        client = try HTTPSession(baseURL: "https://api.test/") { $0.transport = transport }
    }

    private func show(_ text: String) { screen.lines.withLock { $0.append(text) } }
    private func show(_ bytes: Bytes) { show(String(decoding: bytes, as: UTF8.self)) }
    private func useOldFormat() { show("old") }
    private func use(_ connection: HTTPSession.UpgradedConnection) async throws { connection.close() }

    /// Runs `body` with a client of a server that does as `set` says.
    private func serving(
        _ set: (LoopbackServer) -> Void, _ body: (HTTPSession) async throws -> Void
    ) async throws {
        let server = try LoopbackServer()
        set(server)
        let client = try HTTPSession(baseURL: server.baseURL)
        try await body(client)
        await client.shutdown()
        server.stop()
    }

    @Test func `the examples about an upgraded connection run as written`() async throws {
        try await serving {
            $0.enqueue(.upgrade(to: "echo", .expect("hello"), .send("hi")))
        } _: { client in
            let connection = try await client.upgrade("console", to: "echo")
            try await connection.write("hello")
            while let bytes = try await connection.read() { show(bytes) }
        }
        #expect(screen.lines.withLock { $0.joined() } == "hi")
        try await serving {
            $0.enqueue(.upgrade(to: "sync/1"))
        } _: { client in
            let connection = try await client.upgrade(
                "sync", to: ["sync/2", "sync/1"])
            if connection.protocol == "sync/1" { useOldFormat() }
        }
        #expect(screen.lines.withLock { $0.last } == "old")
        try await serving { server in
            server.enqueue(
                .upgrade(to: "echo", .expect("hello"), .send("hi"), .echo))
        } _: { client in
            let connection = try await client.upgrade(
                "console", to: "echo", silence: .seconds(90))
            #expect(connection.isOpen)
        }
    }

    @Test func `the example about a server that refuses to upgrade runs as written`() async throws {
        transport.on(.get, "/console").respond(426, body: "no")
        func call() async throws {
            do {
                let connection = try await client.upgrade("console", to: "echo")
                try await use(connection)
            } catch let error as NetworkError where error.code == .upgradeRefused {
                print(error.response?.status ?? 0, error.body ?? "")
            }
        }
        try await call()
        #expect(transport.requests.count == 1)
    }

    @Test func `the examples about a WebSocket run as written`() async throws {
        let server = peer
        transport.otherwise { server.accept($0) }
        async let other: Void = {
            _ = await server.next()
            server.send(.text("hi"))
            server.send(.close())
            server.end()
        }()
        try await client.withWebSocket("wss://api.test/chat") { socket in
            try await socket.send("hello")
            for try await message in socket.messages {
                if case .text(let text) = message { show(text) }
            }
        }
        await other
        #expect(screen.lines.withLock { $0 } == ["hi"])
        #expect(server.frames.first == .text("hello"))
    }

    @Test func `the examples about what a WebSocket sends run as written`() async throws {
        struct Recording {
            let chunks: AsyncStream<Bytes>
        }
        let (recording, longText) = (Recording(chunks: AsyncStream(unfolding: { nil })), "a long text")
        try await serving { server in
            server.respond { request in
                .webSocket(
                    answering: request, .expectFrame(.text("hello")),
                    .frame(.text("hi")), .echoMessages)
            }
        } _: { client in
            let socket = try await client.webSocket(
                "chat", subprotocols: ["chat.v2", "chat.v1"])
            print(socket.subprotocol ?? "none")
            try await socket.send("hello")
            try await socket.send(recording.chunks)
            try await socket.close(.goingAway, reason: "the window was closed")
        }
        struct Draft: Codable { var text: String }
        typealias Note = Draft
        let draft = WebSocketFrame.text(#"{"text":"hello"}"#)
        try await serving { server in
            server.respond { .webSocket(answering: $0, .expectFrame(draft), .frame(draft), .frame(.close(1000))) }
        } _: { client in
            let socket = try await client.webSocket("chat")
            var shown: [String] = []
            func show(_ note: Note) { shown.append(note.text) }
            try await socket.send(json: Draft(text: "hello"))
            for try await note in socket.messages(of: Note.self) {
                show(note)
            }
            #expect(shown == ["hello"])
        }
        try await serving {
            $0.respond { .webSocket(answering: $0, .echoMessages) }
        } _: { client in
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = .init()
            try await client.withWebSocket("chat", settings: settings) { socket in
                try await socket.send(longText)
            }
        }
    }

    @Test func `the example about a WebSocket that is opened again runs as written`() async throws {
        struct Subscription: Encodable { var after: Int }
        struct Note: Decodable { var id: Int }
        var shown: [Int] = []
        func show(_ note: Note) { shown.append(note.id) }
        var last = 0
        try await serving { server in
            server.respond { request in
                let id = server.requests.count
                return .webSocket(
                    answering: request, .expectFrame(.text(#"{"after":\#(id - 1)}"#)),
                    .frame(.text(#"{"id":\#(id)}"#)), .frame(.close(id == 1 ? 1001 : 1000)))
            }
        } _: { client in
            try await client.withWebSocket(
                "notes", reconnecting: .exponential(attempts: 10)
            ) { socket in
                if let reconnection = socket.reconnection { print(reconnection) }
                try await socket.send(json: Subscription(after: last))
                for try await note in socket.messages(of: Note.self) {
                    last = note.id
                    show(note)
                }
            }
        }
        #expect(shown == [1, 2])
    }

    @Test func `the example about a test of a WebSocket runs as written`() async throws {
        let peer = MockWebSocket()
        transport.otherwise { peer.accept($0) }
        let socket = try await client.webSocket("chat")
        peer.send(.text("hi"))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("hi"))
    }
}
