public import DunlinTypes

extension LoopbackServer.Reply {
    /// Accepts the handshake of a WebSocket, then performs these steps; then the connection ends. `fields` are sent
    /// with the answer, such as `Sec-WebSocket-Protocol`.
    ///
    /// ```swift
    /// server.respond { .webSocket(answering: $0, .expectFrame(.text("hello")), .frame(.text("hi")), .echoMessages) }
    /// ```
    public static func webSocket(
        answering request: LoopbackServer.RecordedRequest, fields: Fields = Fields(), _ steps: LoopbackServer.Step...
    ) -> Self {
        var fields = WebSocketAcceptance.fields(answering: request.fields, fields)
        fields.append(name: "Connection", value: "Upgrade")
        fields.append(name: "Upgrade", value: "websocket")
        return Self([.message(.init(.switchingProtocols, fields: fields))] + steps + [.close])
    }
}

extension LoopbackServer.Step {
    /// Sends a frame, after the handshake of a WebSocket.
    public static func frame(_ frame: WebSocketFrame) -> Self { .send(frame.bytes) }
}

extension LoopbackServer.Connection {
    /// Reads a frame. Throws if another one comes.
    mutating func expect(_ frame: WebSocketFrame) throws(LoopbackServer.Interruption) {
        guard let read = try nextFrame() else { throw .truncated("end of stream where a frame was awaited") }
        guard read == frame else {
            throw .truncated(
                "expected the frame \(frame.kind) (\(frame.payload.count) bytes), got \(read.kind) "
                    + "(\(read.payload.count) bytes)")
        }
    }

    /// Sends back each frame of a message, answers pings, and ends after a close frame, which it answers.
    mutating func echoMessages() throws(LoopbackServer.Interruption) {
        while var frame = try nextFrame() {
            if frame.kind == .pong { continue }
            if frame.kind == .ping { frame.kind = .pong }
            try channel.send(frame.bytes)
            if frame.kind == .close { return }
        }
    }

    /// Performs the steps for each frame. Returns false if one of them ends the connection.
    mutating func answerFrames(
        _ steps: (WebSocketFrame) -> [LoopbackServer.Step]?
    ) throws(LoopbackServer.Interruption) -> Bool {
        while let frame = try nextFrame(), let answer = steps(frame) {
            guard try perform(answer) else { return false }
        }
        return true
    }

    private mutating func nextFrame() throws(LoopbackServer.Interruption) -> WebSocketFrame? {
        while true {
            if let frame = frames.next() { return frame }
            guard let bytes = try reader.raw(from: channel) else { return nil }
            frames.feed(bytes)
        }
    }
}
