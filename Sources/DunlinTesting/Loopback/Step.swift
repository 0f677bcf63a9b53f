public import DunlinTypes

extension LoopbackServer {
    /// A step of a server's reply.
    ///
    /// Sends are separate, with Nagle's algorithm off. The pieces of a drip or a split leave one by one, each in its
    /// own segment, though a late reader may still find several in one read. While a connection pauses, stalls or waits
    /// at a gate, a peer that closes its side ends it.
    public enum Step: Sendable {
        /// A head and what is sent with it, in one send. For a HEAD request, only the head.
        case message(Message)
        case send(Bytes)
        /// Pieces of `size` bytes.
        case drip(Bytes, size: Int = 1, every: Duration = .zero)
        /// Pieces cut at these offsets.
        case split(Bytes, at: [Int])
        /// These bytes of `GeneratedBody`, never held all at once.
        case generated(Range<Int>)
        case pause(Duration)
        /// Waits until the peer closes or the server stops.
        case stall
        /// Waits until the gate is open.
        case waitForSignal(Gate)
        /// Opens the gate, to tell the test that the script has come this far.
        case signal(Gate)
        /// Waits until the first byte of the next request has arrived; it is not read.
        case awaitInput
        /// Reads and discards until the peer closes its side. After `halfClose`, the close can then not become a reset.
        case drain
        /// Reads these bytes, after a 101: other ones are listed in `failures`, and end the connection.
        case expect(Bytes)
        /// Sends back whatever comes, until the peer closes its side.
        case echo
        /// Reads this frame of a WebSocket: another one is listed in `failures`, and ends the connection.
        case expectFrame(WebSocketFrame)
        /// Sends back each frame of a WebSocket's messages, answers pings, and ends when it has answered a close frame.
        case echoMessages
        /// Reads the frames of a WebSocket, and performs the steps that are returned for each. Nil ends that, and so
        /// does the end of the stream.
        case answerFrames(@Sendable (WebSocketFrame) -> [Step]?)
        /// Ends the stream, over TLS after a close_notify, and keeps reading.
        case halfClose
        /// Resets, after everything sent has left. On a Unix socket it closes.
        case reset
        /// Closes, over TLS after a close_notify. The kernel makes it a reset if bytes from the peer are still unread.
        case close
        /// Closes over TLS without a close_notify, so the client may not have everything. Otherwise the same as
        /// `close`.
        case cut
        /// Sends these bytes outside TLS, unchanged: they are not a record that the client could understand.
        case outsideTLS(Bytes)
        /// With TLS 1.3, a key update, which the client must answer with its own. Before that, a request to
        /// renegotiate, which it should refuse. Without TLS, nothing.
        case renewKeys
    }
}

extension LoopbackServer.Step {
    /// The first bytes of `GeneratedBody`.
    public static func generate(_ count: Int) -> Self {
        .generated(0..<max(count, 0))
    }

    /// A 1xx response.
    public static func interim(_ status: HTTP.Status, _ fields: Fields = Fields()) -> Self {
        .message(LoopbackServer.Message(status, fields: fields))
    }

    /// The bytes that this step sends; nil if it sends none, or generates them.
    var bytes: Bytes? {
        switch self {
        case .message(let message): message.bytes
        case .send(let bytes), .drip(let bytes, _, _), .split(let bytes, _): bytes
        default: nil
        }
    }

    var byteCount: Int {
        if case .generated(let range) = self { return range.count }
        return bytes?.count ?? 0
    }

    var endsConnection: Bool {
        switch self {
        case .reset, .close, .cut, .stall: true
        default: false
        }
    }

    /// The step with at most its first `count` bytes.
    func prefix(_ count: Int) -> Self {
        guard count < byteCount else { return self }
        switch self {
        case .message(let message): return .send(message.bytes[0..<count])
        case .send(let bytes): return .send(bytes[0..<count])
        case .drip(let bytes, let size, let every): return .drip(bytes[0..<count], size: size, every: every)
        case .split(let bytes, let offsets): return .split(bytes[0..<count], at: offsets)
        case .generated(let range): return .generated(range.prefix(count))
        default: return self
        }
    }
}
