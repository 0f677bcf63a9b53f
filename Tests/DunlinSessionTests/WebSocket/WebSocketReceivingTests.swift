import Dunlin
import DunlinReactor
import DunlinTesting
import DunlinTypes
import DunlinWire
import LedgerRows
import Mocking
import Testing

@testable import DunlinSession

@Suite(.timeLimit(.minutes(10))) struct `Receiving over a WebSocket` {
    @Test(.rules("6455-5.4-6", "6455-6.2-1")) func `messages arrive whole and in order, however they were framed`()
        async throws
    {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        mock.peer.send(.text("a"))
        let cut = Bytes("b\u{E9}c")
        mock.peer.send(WebSocketFrame(.text, cut[0..<2], isFinal: false))
        mock.peer.send(.ping("1"))
        mock.peer.send(WebSocketFrame(.continuation, cut[2..<4]))
        mock.peer.send(.binary("d"))
        mock.peer.send(.close(1001, reason: "bye"))
        mock.peer.end()
        #expect(try await socket.all() == [.text("a"), .text("b\u{E9}c"), .binary("d")])
        #expect(!socket.isOpen && socket.closeCode == .goingAway && socket.closeReason == "bye")
        #expect(mock.peer.frames == [.pong("1"), .close(1001)])
    }

    @Test func `pieces come as they arrive, and say which one is the last`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        var pieces = socket.pieces.makeAsyncIterator()
        mock.peer.send(WebSocketFrame(.text, "ab", isFinal: false))
        var piece = try await pieces.next()
        #expect(piece?.content == .text("ab") && piece?.isLast == false)
        mock.peer.send(WebSocketFrame(.continuation, "c", isFinal: false))
        piece = try await pieces.next()
        #expect(piece?.content == .text("c") && piece?.isLast == false)
        mock.peer.send(WebSocketFrame(.continuation, "d"))
        mock.peer.send(.text("next"))
        // The rest of a message that was begun by pieces is no message.
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("next"))
    }

    @Test(.rules("6455-7.1.5-1")) func `a close frame without a code is a close without one`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        mock.peer.send(.close(nil))
        mock.peer.end()
        #expect(try await socket.all().isEmpty)
        #expect(socket.closeCode == .noCode && socket.closeReason.isEmpty)
    }

    @Test(.rules("6455-7.1.5-1")) func `a stream that ends without a close frame is a lost connection`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        mock.peer.send(.text("a"))
        mock.peer.end()
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("a"))
        let error = try await NetworkError.thrown { _ = try await messages.next() }
        #expect(error.code == .connectionClosed && !error.isSafeToRetry && error.request?.url == "http://api.test/chat")
        #expect(error.underlying as? HTTP.WebSocketError == .endedWithoutClose)
        #expect(socket.closeCode == .abnormal)
    }

    @Test(
        .rules("6455-7.1.7-2"),
        arguments: [
            (Bytes([0xC1, 0x00]), NetworkError.Code.webSocketFailed, UInt16(1002)),
            (WebSocketFrame(.continuation).bytes, .webSocketFailed, 1002),
            (WebSocketFrame(.text, Bytes([0xFF])).bytes, .webSocketFailed, 1007),
            (Bytes([0x82, 127, 0, 0, 0, 0, 1, 0, 0, 1]), .limitExceeded, 1009),
        ])
    func `a peer that breaks a rule or a limit is told so, and the reader gets an error`(
        bytes: Bytes, code: NetworkError.Code, close: UInt16
    ) async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        mock.peer.send(bytes)
        let error = try await NetworkError.thrown { _ = try await socket.all() }
        #expect(error.code == code && error.underlying is HTTP.WebSocketError, "\(error)")
        #expect(error.reason.contains("the server broke the rules") == (code == .webSocketFailed), "\(error)")
        #expect(mock.peer.frames == [.close(close)] && socket.closeCode == .abnormal)
    }

    @Test func `a message is limited over all its frames`() async throws {
        let mock = try MockedSocket()
        var settings = HTTPSession.WebSocketSettings()
        settings.messageLimit = 3
        let socket = try await mock.open(settings)
        mock.peer.send(.text("abc"))
        mock.peer.send(WebSocketFrame(.text, "ab", isFinal: false))
        mock.peer.send(WebSocketFrame(.continuation, "cd"))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("abc"))
        let error = try await NetworkError.thrown { _ = try await messages.next() }
        #expect(error.code == .limitExceeded)
        #expect(error.underlying as? HTTP.WebSocketError == .messageTooLong(limit: 3))
    }

    @Test func `nothing is read while the backlog is full`() async throws {
        let mock = try MockedSocket()
        let message = WebSocketFrame.binary(Bytes([UInt8](repeating: 7, count: 1000)))
        for _ in 0..<100 { mock.peer.send(message) }
        var settings = HTTPSession.WebSocketSettings()
        settings.backlogLimit = 10_000
        let socket = try await mock.open(settings)
        // Each message costs its length and a little more.
        try await eventually("the backlog is full") { socket.received >= 10_000 }
        for _ in 0..<1000 { await Task.yield() }
        #expect(socket.received < 12_000)
        var messages = socket.messages.makeAsyncIterator()
        for _ in 0..<100 { #expect(try await messages.next() == .binary(message.payload)) }
    }

    @Test func `cancelling who waits for a message leaves the connection open`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let waiting = Task { try await socket.all() }
        waiting.cancel()
        let outcome = await waiting.result
        #expect(throws: CancellationError.self) { try outcome.get() }
        mock.peer.send(.text("a"))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("a"))
        #expect(socket.isOpen)
    }

    @Test func `a message whose reader was cancelled in the middle goes to the next reader`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        mock.peer.send(WebSocketFrame(.text, "a", isFinal: false))
        let waiting = Task { try await socket.all() }
        for _ in 0..<1000 { await Task.yield() }
        waiting.cancel()
        _ = await waiting.result
        mock.peer.send(WebSocketFrame(.continuation, "b"))
        var messages = socket.messages.makeAsyncIterator()
        #expect(try await messages.next() == .text("ab"))
    }

    @Test func `a second reader is refused while the first one waits`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let outcomes = AsyncStream.makeStream(of: String.self)
        for _ in 0..<2 {
            Task {
                do {
                    var messages = socket.messages.makeAsyncIterator()
                    outcomes.continuation.yield("\(try await messages.next() == .text("a"))")
                } catch {
                    outcomes.continuation.yield("\((error as? NetworkError)?.code.rawValue ?? "")")
                }
            }
        }
        var outcome = outcomes.stream.makeAsyncIterator()
        #expect(await outcome.next() == "bodyConsumed")
        mock.peer.send(.text("a"))
        #expect(await outcome.next() == "true")
    }

    /// A task that waits for the next message.
    private static func waitingReader(
        of socket: HTTPSession.WebSocket
    ) async throws -> Task<HTTPSession.WebSocket.Message?, any Error> {
        let reader = Task {
            var messages = socket.messages.makeAsyncIterator()
            return try await messages.next()
        }
        try await eventually("the first reader waits") { await socket.driver.messageWaiter != nil }
        return reader
    }

    @Test func `a second reader is refused also if a message is there that the first has not taken yet`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let first = try await Self.waitingReader(of: socket)
        let error = try await NetworkError.thrown { _ = try await socket.driver.nextMessage(after: .text("a")) }
        #expect(error.code == .bodyConsumed)
        #expect(try await first.value == .text("a"))
    }

    @Test func `a second reader gets no piece that the first one has taken`() async throws {
        let mock = try MockedSocket()
        let socket = try await mock.open()
        let first = try await Self.waitingReader(of: socket)
        await socket.driver.arrive(.text("a"), isLast: false)
        try await eventually("it waits for the rest") { await socket.driver.waitsForMore }
        let error = try await NetworkError.thrown {
            var pieces = socket.pieces.makeAsyncIterator()
            _ = try await pieces.next()
        }
        #expect(error.code == .bodyConsumed)
        await socket.driver.arrive(.text("b"), isLast: true)
        #expect(try await first.value == .text("ab"))
    }
}

extension WebSocketDriver {
    fileprivate var waitsForMore: Bool { backlog.isEmpty && messageWaiter != nil }

    fileprivate func arrive(_ message: HTTP.WebSocketMessage, isLast: Bool) {
        backlog.add(message, isLast: isLast)
        _ = messageWaiter?.deliver(())
    }

    /// Has a message arrive, and reads before whoever waits for it has had its turn.
    fileprivate func nextMessage(after message: HTTP.WebSocketMessage) async throws -> HTTP.WebSocketMessage? {
        arrive(message, isLast: true)
        return try await nextMessage()
    }
}
