public import DunlinTypes

/// Response heads from bytes cut anywhere (RFC 9112 §4 and §5), strict.
///
/// Knows: the status line here, the field lines in `FieldScanner`. A status line is `HTTP/1.x`, one space, three
/// digits, one space and any reason. Version 1.0 and 1.1 are themselves, a higher minor counts as 1.1, another major
/// is refused. The space before an absent reason may be missing: nothing can be read two ways without it. An empty
/// line before the status line is refused; that courtesy is a server's (§2.2). Must not know: whether a body follows,
/// which `ParsedHead.framing(for:)` says, and what request this answers.
///
/// The fields of a head are ranges over the array that was fed: nothing is copied when the head came in one piece.
/// After an error the parser throws the same error again, whatever is fed.
public struct HeadParser: Sendable {
    private let limits: WireLimits
    private var buffer: [UInt8] = []
    private var scanner: HeadScanner
    private var interimCount = 0

    public init(limits: WireLimits = WireLimits()) {
        self.limits = limits
        scanner = HeadScanner(limits: limits)
    }

    /// Takes in the next bytes. Adopts the array without a copy when nothing is held; otherwise appends.
    public mutating func feed(_ chunk: consuming [UInt8]) {
        let start = scanner.start
        if start == buffer.count {
            buffer = chunk
            scanner.begin(at: 0)
        } else if start > 0 {
            // The bytes before this head belong to heads already handed out; let go of them.
            var rest: [UInt8] = []
            rest.reserveCapacity(buffer.count - start + chunk.count)
            rest.append(contentsOf: buffer[start...])
            rest.append(contentsOf: chunk)
            buffer = rest
            scanner.rebase(by: start)
        } else {
            buffer.append(contentsOf: chunk)
        }
    }

    /// The next head once all of it is here; nil when more bytes are needed.
    ///
    /// An interim (1xx) head is returned like any other; call again for the one that follows. More of them in a row
    /// than the limit are an error.
    public mutating func next() throws(WireError) -> ParsedHead? {
        let interimLeft = limits.interimResponses - interimCount
        // The scanner is another stored property, so it may change while the buffer is lent.
        let summary = try buffer.withUnsafeBufferPointer { bytes throws(WireError) in
            try scanner.scan(bytes, interimLeft: interimLeft)
        }
        guard let summary else { return nil }
        let status = scanner.status
        let head = ResponseHead(
            version: scanner.version, status: status,
            fields: Fields(bytes: buffer, entries: scanner.takeEntries()), reason: scanner.reason)
        interimCount = status.isInterim ? interimCount + 1 : 0
        scanner.begin(at: scanner.cursor)
        return ParsedHead(head: head, summary: summary)
    }

    /// What followed the last head, as a slice of the same storage. Leaves the parser empty, for the next response.
    public mutating func takeRest() -> Bytes {
        let rest = Bytes(buffer, in: scanner.start..<buffer.count)
        buffer = []
        scanner.begin(at: 0)
        interimCount = 0
        return rest
    }

    /// How many bytes have come behind the last head.
    package var following: Int { buffer.count - scanner.start }

    /// No byte of a head has been received yet.
    public var isEmpty: Bool { scanner.start == buffer.count }

    /// The stream ended while a head was awaited: throws what that means.
    ///
    /// `receivedNothing` if no byte came at all, not even an interim response; otherwise `truncatedHead`.
    public func endOfStream() throws(WireError) -> Never {
        throw isEmpty && interimCount == 0 ? .receivedNothing : .truncatedHead
    }
}

extension HTTP.Status {
    /// Informational but for 101, after which the connection speaks another protocol.
    var isInterim: Bool { code / 100 == 1 && code != 101 }
}
