internal import DunlinTypes
internal import Synchronization

extension MockTransport {
    /// Answers every request without a route with `normal`'s outcome, with the faults of the plan. This replaces the
    /// closure of `otherwise`.
    ///
    /// Requests are counted in order of arrival; with `byRoute`, within their method and path. Every wait is a sleep on
    /// the transport's clock: a stall sleeps as long as the request allows, then fails as a socket would.
    public func apply(
        _ plan: FaultPlan, byRoute: Bool = false,
        _ normal: @escaping @Sendable (RecordedRequest) async throws -> Outcome
    ) {
        let counter = FaultCounter(plan, byRoute: byRoute)
        otherwise { [clock] request in
            let fault = counter.next(request.method, request.target)
            return try await normal(request).suffering(fault, of: request, on: clock)
        }
    }
}

extension MockTransport.Outcome {
    /// The outcome with a fault. One that fails by itself is unchanged.
    func suffering(
        _ fault: Fault, of request: MockTransport.RecordedRequest, on clock: any Clock<Duration>
    ) async throws -> MockTransport.Outcome {
        guard case .respond(let head, let content) = kind else { return self }
        let spoiler = FaultyBody(head, content, request, clock)
        switch fault {
        case .none: return self
        case .refused: return .fail(.connectionRefused)
        case .reset(let count): return try await spoiler.cut(after: count, .reset)
        case .truncated(let count): return try await spoiler.cut(after: count, .closed)
        case .stalled(let count): return try await spoiler.cut(after: count, .silence)
        case .dripping(let pieces, let pause): return spoiler.dripping(pieces, every: pause)
        case .delayed(let duration): return try await spoiler.delayed(self, duration)
        case .unavailable: return .respond(.serviceUnavailable)
        case .wrongLength(let missing): return spoiler.announcing(missing)
        }
    }
}

/// Applies a fault to a mocked response, as a reader would see it over a socket.
struct FaultyBody: Sendable {
    /// How a cut response ends.
    enum End: Sendable {
        case reset
        case closed
        case silence
    }

    private let head: ResponseHead
    private let length: Int?
    private let whole: Bytes
    private let piece: MockTransport.Outcome.Piece
    /// The peer of an upgraded connection, whose pieces are those above; nil for a body.
    private var peer: MockTransport.Outcome.Peer?
    private let request: MockTransport.RecordedRequest
    private let clock: any Clock<Duration>

    init(
        _ head: ResponseHead, _ content: MockTransport.Outcome.Content, _ request: MockTransport.RecordedRequest,
        _ clock: any Clock<Duration>
    ) {
        self.head = head
        self.request = request
        self.clock = clock
        switch content {
        case .whole(let bytes):
            (length, whole) = (bytes.count, bytes)
            piece = { $0 == 0 ? bytes : nil }
        case .pieces(let declared, _, let make):
            (length, whole, piece) = (declared, .empty, make)
        case .upgrade(let peer):
            (length, whole, piece) = (nil, .empty, peer.sends)
            self.peer = peer
        }
    }

    /// The length that the head would have on a wire.
    private var headSize: Int {
        let reply = LoopbackServer.Reply.response(head.status, fields: head.fields, body: whole)
        return reply.steps.reduce(0) { $0 + $1.byteCount } - whole.count
    }

    private var announcesLength: Bool {
        (length != nil || head.fields.contains("content-length")) && !head.fields.contains("transfer-encoding")
    }

    func cut(after count: Int, _ end: End) async throws -> MockTransport.Outcome {
        let (request, clock, piece) = (request, clock, piece)
        let isSeen = end == .closed && announcesLength
        if count < headSize { throw try await Self.perform(end, request, count > 0 ? .receive : .firstByte, clock) }
        let left = Mutex(count - headSize)
        let cutPiece: MockTransport.Outcome.Piece = { index in
            let bytes = left.withLock { $0 } > 0 ? try await piece(index) : nil
            guard let bytes else {
                if isSeen { return nil }
                throw try await Self.perform(end, request, .receive, clock)
            }
            return left.withLock { left in
                let kept = min(left, bytes.count)
                left -= kept
                return bytes[0..<kept]
            }
        }
        guard let peer else {
            return .stream(status: head.status, fields: head.fields, length: length, cutPiece)
        }
        let cut = MockTransport.Outcome.Peer(sends: cutPiece, receives: peer.receives)
        return MockTransport.Outcome(.respond(head, .upgrade(cut)))
    }

    /// Fails when the phase's limit is over on the clock, if the peer is silent.
    private static func perform(
        _ end: End, _ request: MockTransport.RecordedRequest, _ phase: HTTP.Phase, _ clock: any Clock<Duration>
    ) async throws -> NetworkError {
        switch end {
        case .reset: return error(.connectionClosed, "the connection was reset", request, phase)
        case .closed: return error(.connectionClosed, "the peer closed the connection", request, phase)
        case .silence: return try await timeOut(request, phase, clock)
        }
    }

    /// Times out by the transport's clock, which need not be the session's: the session's limits do not measure the
    /// time that has passed here.
    private static func timeOut(
        _ request: MockTransport.RecordedRequest, _ phase: HTTP.Phase, _ clock: any Clock<Duration>
    ) async throws -> NetworkError {
        // Without a limit, the wait still has an end, since otherwise nobody could skip it.
        let (own, timeouts) = (Timeouts.Limit(phase), request.timeouts)
        let exceeded = timeouts[own] == nil && timeouts.total != nil ? .total : own
        let limit = timeouts[exceeded] ?? .seconds(86_400)
        try await clock.sleep(for: limit)
        var error = error(.timedOut, "the \(exceeded.rawValue) limit was exceeded", request, phase)
        (error.exceeded, error.limit, error.elapsed) = (exceeded, limit, limit)
        return error
    }

    private static func error(
        _ code: NetworkError.Code, _ reason: String, _ request: MockTransport.RecordedRequest, _ phase: HTTP.Phase
    ) -> NetworkError {
        let head = RequestHead(
            method: request.method, origin: request.origin, target: request.target, fields: request.fields)
        return NetworkError(
            code, reason, phase: phase, requestMayHaveBeenSent: true, isSafeToRetry: head.isRepeatable,
            peer: "\(request.origin)")
    }

    func delayed(_ outcome: MockTransport.Outcome, _ duration: Duration) async throws -> MockTransport.Outcome {
        if let limit = request.timeouts.firstByte, limit <= duration { return try await cut(after: 0, .silence) }
        return outcome.delayed(duration)
    }

    /// The body in pieces. One that is made piece by piece keeps its pieces, with the pauses between them.
    func dripping(_ pieces: Int, every pause: Duration) -> MockTransport.Outcome {
        let (clock, piece, whole) = (clock, piece, whole)
        let size = max(1, (whole.count + pieces - 1) / max(pieces, 1))
        return .stream(status: head.status, fields: head.fields, length: length) { index in
            if index > 0, pause > .zero { try await clock.sleep(for: pause) }
            guard !whole.isEmpty else { return try await piece(index) }
            let start = index * size
            return start < whole.count ? whole[start..<min(start + size, whole.count)] : nil
        }
    }

    /// The outcome with a declared length that is too long, as its reader notices. One without a length is cut at its
    /// end.
    func announcing(_ more: Int) -> MockTransport.Outcome {
        let (request, piece, isSeen) = (request, piece, announcesLength)
        var fields = head.fields
        if let own = fields["Content-Length"].flatMap(Int.init) { fields["Content-Length"] = "\(own + more)" }
        return .stream(status: head.status, fields: fields, length: length.map { $0 + more }) { index in
            if let bytes = try await piece(index) { return bytes }
            if isSeen { return nil }
            throw Self.error(.connectionClosed, "the peer closed the connection", request, .receive)
        }
    }
}
