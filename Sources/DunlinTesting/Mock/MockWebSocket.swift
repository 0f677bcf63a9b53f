internal import Dunlin
public import DunlinTypes
internal import Synchronization

/// The server's side of a WebSocket over a mock transport: a test sends frames, and reads those of the client.
///
/// ```swift
/// let peer = MockWebSocket()
/// transport.otherwise { peer.accept($0) }
/// let socket = try await client.webSocket("ws://api.test/chat")
/// peer.send(.text("hi"))
/// ```
public final class MockWebSocket: Sendable {
    private let outgoing = AsyncStream<Bytes>.makeStream()
    private let incoming = AsyncStream<WebSocketFrame>.makeStream()
    private let reader = Mutex(WebSocketFrameReader())
    private let received = Mutex<[WebSocketFrame]>([])

    public init() {}

    /// Accepts the handshake. `fields` go with the answer. `receives` is called with each write of the client
    /// before that is taken, and may wait.
    public func accept(
        _ request: MockTransport.RecordedRequest, fields: Fields = Fields(),
        receives: @escaping @Sendable (Bytes) async throws -> Void = { _ in }
    ) -> MockTransport.Outcome {
        .upgrade(to: "websocket", fields: WebSocketAcceptance.fields(answering: request.fields, fields)) {
            [stream = outgoing.stream] _ in
            for await bytes in stream { return bytes }
            return nil
        } receives: { [self] bytes in
            if let bytes { try await receives(bytes) }
            take(bytes)
        }
    }

    /// Sends a frame.
    public func send(_ frame: WebSocketFrame) { send(frame.bytes) }

    /// Sends bytes that need not be frames.
    public func send(_ bytes: Bytes) { outgoing.continuation.yield(bytes) }

    /// Ends the stream.
    public func end() { outgoing.continuation.finish() }

    /// The frames that the client has sent.
    public var frames: [WebSocketFrame] { received.withLock { $0 } }

    /// Returns the client's next frame that no call has returned; nil when the client has ended its direction.
    public func next() async -> WebSocketFrame? {
        for await frame in incoming.stream { return frame }
        return nil
    }

    private func take(_ bytes: Bytes?) {
        guard let bytes else { return incoming.continuation.finish() }
        let frames = reader.withLock { reader in
            reader.feed(bytes.array)
            var frames: [WebSocketFrame] = []
            while let frame = reader.next() { frames.append(frame) }
            return frames
        }
        received.withLock { $0 += frames }
        for frame in frames { incoming.continuation.yield(frame) }
    }
}
