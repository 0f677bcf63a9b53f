public import DunlinTypes

/// Parses response heads from bytes that may be cut anywhere (RFC 9112 §4 and §5), strictly.
///
/// It parses the status line; `FieldScanner` scans the field lines. A status line is `HTTP/1.x`, one space, three
/// digits, one space and any reason. Versions 1.0 and 1.1 are known, a higher minor version counts as 1.1, and another
/// major version is refused. The space before an absent reason may be missing, which is not ambiguous. An empty line
/// before the status line is refused; only servers should accept one (§2.2). It must not know whether a body follows,
/// which `ParsedHead.framing(for:)` says, nor what request this answers.
///
/// The fields of a head are ranges of the array that was fed: a head in one piece is not copied. After an error the
/// parser throws the same error again, whatever it is fed.
public struct HeadParser: Sendable {
    private let limits: WireLimits
    private var buffer: [UInt8] = []
    private var scanner: HeadScanner
    private var interimCount = 0

    public init(limits: WireLimits = WireLimits()) {
        self.limits = limits
        scanner = HeadScanner(limits: limits)
    }

    /// Feeds the next bytes. The array is adopted without a copy if nothing is held; otherwise it is appended.
    public mutating func feed(_ chunk: consuming [UInt8]) {
        let start = scanner.start
        if start == buffer.count {
            buffer = chunk
            scanner.begin(at: 0)
        } else if start > 0 {
            // The bytes before this head belong to heads already returned; release them.
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

    /// Returns the next complete head; nil if more bytes are needed.
    ///
    /// Interim (1xx) heads are returned like any other; call again for the next. More of them in a row than the limit
    /// allows are an error.
    public mutating func next() throws(WireError) -> ParsedHead? {
        let interimLeft = limits.interimResponses - interimCount
        // The scanner is another stored property, so it may change while the buffer is borrowed.
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

    /// Returns what followed the last head, as a slice of the same storage, and leaves the parser empty for the next
    /// response.
    public mutating func takeRest() -> Bytes {
        let rest = Bytes(buffer, in: scanner.start..<buffer.count)
        buffer = []
        scanner.begin(at: 0)
        interimCount = 0
        return rest
    }

    /// The number of bytes after the last head.
    package var following: Int { buffer.count - scanner.start }

    /// Whether no byte of a head has been received yet.
    public var isEmpty: Bool { scanner.start == buffer.count }

    /// Throws the error for a stream that ended while a head was awaited.
    ///
    /// It is `receivedNothing` if no byte came, not even an interim response; otherwise `truncatedHead`.
    public func endOfStream() throws(WireError) -> Never {
        throw isEmpty && interimCount == 0 ? .receivedNothing : .truncatedHead
    }
}

extension HTTP.Status {
    /// Whether the head is informational; 101 is not, since the connection then changes its protocol.
    var isInterim: Bool { code / 100 == 1 && code != 101 }
}
