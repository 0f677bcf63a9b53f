public import DunlinTypes

extension LoopbackServer {
    /// One thing a server does while it answers.
    ///
    /// Each send is its own, with Nagle's algorithm off. Pieces of a drip or a split leave one by one, each in a
    /// segment of its own. A reader that is late may still find several in one read.
    /// While a connection pauses, stalls or waits at a gate, a peer that closes its side ends it.
    public enum Step: Sendable {
        /// A head and what leaves with it, in one send. For a HEAD request the head alone.
        case message(Message)
        case send(Bytes)
        /// Pieces of `size` bytes.
        case drip(Bytes, size: Int = 1, every: Duration = .zero)
        /// Pieces cut at these offsets.
        case split(Bytes, at: [Int])
        /// These bytes of `GeneratedBody`, never held all at once.
        case generated(Range<Int>)
        case pause(Duration)
        /// Until the peer closes or the server stops.
        case stall
        /// Until the gate is open.
        case waitForSignal(Gate)
        /// Opens the gate: tells the test that the script has come this far.
        case signal(Gate)
        /// Until the first byte of the next request has arrived; it is not read.
        case awaitInput
        /// Reads and throws away until the peer closes its side. After `halfClose` this makes a close that cannot turn
        /// into a reset.
        case drain
        /// Sends end of stream, over TLS after a close_notify, and keeps reading.
        case halfClose
        /// RST, after what was sent has left. On a Unix socket a close.
        case reset
        /// Plain close; over TLS after a close_notify. The kernel makes it a reset when bytes from the peer are still
        /// unread.
        case close
        /// Over TLS a close without close_notify: what the client has may not be all. Otherwise the same as `close`.
        case cut
        /// These bytes past TLS, as they are: no record that the client could understand.
        case outsideTLS(Bytes)
        /// TLS 1.3: a key update, which the client has to answer in kind. Before that: a request to renegotiate, which
        /// it should refuse. Without TLS nothing.
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

    /// The bytes this step sends; nil when it sends none or makes them up as it goes.
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
