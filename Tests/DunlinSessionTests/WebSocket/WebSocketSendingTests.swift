import Dunlin
import DunlinTesting
import LedgerRows
import Mocking
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Sending over a WebSocket` {
    private static let slice = 64 * 1024

    @Test(.rules("6455-6.1-2")) func `each message is a frame of its kind`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        try await socket.send("a\u{E9}")
        try await socket.send(Bytes([0, 255]))
        try await socket.send(.text(""))
        #expect(mock.peer.frames == [.text("a\u{E9}"), .binary(Bytes([0, 255])), .text("")])
    }

    private struct Note: Codable, Equatable {
        var userName: String
    }

    @Test func `values are texts of JSON, both ways, in the session's way or another`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        try await socket.send(json: Note(userName: "Ada"))
        try await socket.send(json: Note(userName: "Ada"), .snakeCase)
        #expect(mock.peer.frames == [.text(#"{"userName":"Ada"}"#), .text(#"{"user_name":"Ada"}"#)])
        mock.peer.send(.text(#"{"userName":"Bob"}"#))
        mock.peer.send(.text("no JSON"))
        mock.peer.send(.binary(#"{"userName":"Cy"}"#))
        mock.peer.send(.text(#"{"user_name":"Dee"}"#))
        mock.peer.send(.close(1000))
        var notes = socket.messages(of: Note.self)
        #expect(try await notes.next() == Note(userName: "Bob"))
        let error = try await NetworkError.thrown { _ = try await notes.next() }
        #expect(error.code == .decodingFailed && error.body == "no JSON" && error.request != nil)
        #expect(!error.description.contains("no JSON"))
        #expect(try await notes.next() == Note(userName: "Cy"))
        var others = socket.messages(of: Note.self, .snakeCase)
        #expect(try await others.next() == Note(userName: "Dee"))
        #expect(try await others.next() == nil)
    }

    @Test func `a message that is shorter than the settings say is not compressed`() async throws {
        let mock = try MockedSocket(accepting: ["Sec-WebSocket-Extensions": "permessage-deflate"])
        var settings = HTTPSession.WebSocketSettings()
        settings.compression = .init(shortest: 5)
        let socket = try await mock.open(settings)
        #expect(socket.isCompressed)
        for text in ["four", "five5", "four", "longer than five"] { try await socket.send(text) }
        let (pieces, continuation) = AsyncStream.makeStream(of: Bytes.self)
        continuation.yield("a")
        continuation.finish()
        try await socket.send(pieces)
        let frames = mock.peer.frames
        #expect(frames.prefix(4).map(\.isCompressed) == [false, true, false, true])
        #expect(frames.dropFirst(4).first?.isCompressed == true)
        #expect(frames[0].payload == "four" && frames[2].payload == "four")
    }

    @Test(arguments: ["ws://api.test/v1", "WSS://api.test/v1", "wss://api.test"])
    func `a session's base URL may have the scheme of WebSockets`(base: String) async throws {
        let mocked = try Mocked(base)
        mocked.transport.otherwise { _ in .respond() }
        try await mocked.session.get("a")
        let scheme = base.hasPrefix("ws:") ? "http" : "https"
        #expect(mocked.transport.requests[0].origin.description == "\(scheme)://api.test")
    }

    @Test(.rules("6455-6.1-2")) func `a long message is cut into frames, text between characters`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let text = String(repeating: "\u{20AC}", count: 50_000)
        try await socket.send(text)
        let frames = mock.peer.frames
        #expect(frames.map(\.kind) == [.text, .continuation, .continuation])
        #expect(frames.map(\.isFinal) == [false, false, true])
        #expect(frames.dropLast().allSatisfy { $0.payload.count <= Self.slice && $0.payload.count % 3 == 0 })
        #expect(frames.map { String($0.payload) }.joined() == text)
    }

    @Test(.rules("6455-5.4-4")) func `messages of tasks that send at the same time do not mix`() async throws {
        let mock = try MockedSocket { await Task.yield() }
        let socket = try await mock.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for letter in UInt8(97)..<107 {
                let bytes = Bytes([UInt8](repeating: letter, count: Self.slice * 3))
                group.addTask { try await socket.send(bytes) }
            }
            try await group.waitForAll()
        }
        var letters: Set<UInt8> = []
        let frames = mock.peer.frames
        for start in stride(from: 0, to: frames.count, by: 3) {
            let message = frames[start..<start + 3]
            #expect(message.map(\.kind) == [.binary, .continuation, .continuation])
            let contents = Set(message.flatMap { Set($0.payload) })
            #expect(contents.count == 1)
            letters.formUnion(contents)
        }
        #expect(letters.count == 10 && frames.count == 30)
    }

    @Test func `a message may be sent piece by piece, and control frames go between`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let (pieces, continuation) = AsyncStream.makeStream(of: String.self)
        let sending = Task { try await socket.send(pieces) }
        continuation.yield("a")
        #expect(await mock.peer.next() == WebSocketFrame(.text, "a", isFinal: false))
        mock.peer.send(.ping("1"))
        #expect(await mock.peer.next() == .pong("1"))
        let other = Task { try await socket.send("other") }
        continuation.yield("b")
        continuation.finish()
        try await sending.value
        try await other.value
        #expect(await mock.peer.next() == WebSocketFrame(.continuation, "b", isFinal: false))
        #expect(await mock.peer.next() == WebSocketFrame(.continuation))
        #expect(await mock.peer.next() == .text("other"))
    }

    @Test func `pieces that fail in the middle close the connection, and before the first nothing`() async throws {
        struct Mine: Error {}
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let none = AsyncThrowingStream<Bytes, any Error> { throw Mine() }
        await #expect(throws: Mine.self) { try await socket.send(none) }
        try await socket.send("a")
        let (pieces, continuation) = AsyncThrowingStream.makeStream(of: Bytes.self)
        continuation.yield("b")
        continuation.finish(throwing: Mine())
        await #expect(throws: Mine.self) { try await socket.send(pieces) }
        let closing = WebSocketFrame.close(1011)
        try await eventually("a close frame") { mock.peer.frames.last == closing }
        #expect(mock.peer.frames == [.text("a"), WebSocketFrame(.binary, "b", isFinal: false), closing])
        let late = try await NetworkError.thrown { try await socket.send("c") }
        #expect(late.code == .connectionClosed)
    }

    @Test func `cancelling a send that waits for its turn sends nothing`() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let mock = try MockedSocket { for await _ in gate.stream { return } }
        let socket = try await mock.open()
        let first = Task { try await socket.send("first") }
        let second = Task { try await socket.send("second") }
        second.cancel()
        let outcome = await second.result
        if case .success = outcome { Issue.record("sent all the same") }
        for _ in 0..<2 { gate.continuation.yield() }
        gate.continuation.finish()
        _ = await first.result
        #expect(!mock.peer.frames.contains(.text("second")))
    }

    @Test func `a send that waits behind a message that does not go on fails when the connection ends`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let pieces = AsyncStream.makeStream(of: Bytes.self)
        pieces.continuation.yield("first")
        let first = Task { try await socket.send(pieces.stream) }
        _ = await mock.peer.next()
        let second = Task { try await socket.send("second") }
        mock.peer.end()
        await #expect(throws: (any Error).self) { try await second.value }
        pieces.continuation.finish()
        _ = await first.result
        #expect(!mock.peer.frames.contains(.text("second")))
    }

    @Test func `cancelling a send that is under way closes the connection`() async throws {
        let started = AsyncStream.makeStream(of: Void.self)
        let mock = try MockedSocket {
            started.continuation.yield()
            try await ManualClock().sleep(for: .seconds(1))
        }
        let socket = try await mock.open()
        let sending = Task { try await socket.send("a") }
        for await _ in started.stream { break }
        sending.cancel()
        let outcome = await sending.result
        #expect(throws: CancellationError.self) { try outcome.get() }
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.code == .connectionClosed && !socket.isOpen && socket.closeCode == .abnormal)
        #expect(await mock.session.tasks.count == 0)
    }

    @Test(.rules("6455-5.3-1")) func `masks differ from frame to frame`() async throws {
        let written = AsyncStream.makeStream(of: Bytes.self)
        let mocked = try Mocked()
        let peer = MockWebSocket()
        mocked.transport.otherwise { peer.accept($0) { written.continuation.yield($0) } }
        let socket = try await mocked.session.webSocket("chat")
        for _ in 0..<300 { try await socket.send("aaaa") }
        var masks: Set<Bytes> = []
        var bytes = written.stream.makeAsyncIterator()
        for _ in 0..<300 { if let frame = await bytes.next() { masks.insert(frame[2..<6]) } }
        #expect(masks.count > 295)
    }
}
