internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// One request and its response: write, and when an answer is there, see where the body ends.
///
/// Knows framing; nobody above does. A body that has arrived with its head is handed over whole and the lease goes
/// back here; otherwise the lease moves into a `ConnectionBody`, which reads on when asked. Every error drops the
/// lease, and with it the connection.
extension Connection {
    /// What is to be sent: the encoded head, with a small body behind it, and what to do about a body that is not.
    struct Message: ~Copyable, Sendable {
        var opening: Bytes
        var rest: Rest?
        var asksToClose: Bool
    }

    /// What a body needs that does not travel with its head.
    final class Rest: Sendable {
        let file: FileSource?
        let uploads: UploadScope?
        /// The body waits for the server's leave.
        let expectsContinue: Bool

        init(file: FileSource?, uploads: UploadScope?, expectsContinue: Bool) {
            self.file = file
            self.uploads = uploads
            self.expectsContinue = expectsContinue
        }
    }

    /// Sends what the kernel takes at once, which is usually all of it.
    static func begin(
        _ message: consuming Message, over lease: consuming Lease, _ context: ExchangeContext,
        _ attempt: inout Attempt
    ) throws -> BegunExchange {
        guard let sent = try send(message, over: lease, context, &attempt) else {
            return .unfinished(UnfinishedExchange(.unsent(message, lease), context, attempt))
        }
        return .sent(lease, at: sent, asksToClose: message.asksToClose)
    }

    /// When the whole request had been handed to the kernel at once; nil if there is more to do about sending it.
    private static func send(
        _ message: borrowing Message, over lease: borrowing Lease, _ context: ExchangeContext,
        _ attempt: inout Attempt
    ) throws -> MonotonicTime? {
        let channel = lease.connection.channel
        lease.connection.countExchange()
        guard context.interrupt.arm(channel, turn: lease.turn) else { throw context.interrupted(.send, attempt) }
        guard message.rest == nil, context.watch == nil else { return nil }
        let writer = RequestWriter(context: context, stream: lease.connection.stream)
        guard try writer.writeNow(message.opening, &attempt) else { return nil }
        let sent = context.clock.now()
        attempt[.send] = sent.nanoseconds - sendStart(context, attempt)
        return sent
    }

    /// The phases tile the attempt: what was neither waiting nor connecting before now counts as sending.
    private static func sendStart(_ context: ExchangeContext, _ attempt: Attempt) -> Int64 {
        context.started.nanoseconds + attempt[.pool] + attempt[.resolve] + attempt[.connect] + attempt[.secure]
    }

    /// What the first wait brought.
    enum Answer {
        case whole(TransportResponse)
        /// Its head is not all here.
        case unfinished(UnfinishedExchange)
    }

    /// Reads what has come once the wait is over.
    @inline(never)
    static func receive(
        _ wake: Wake, over lease: consuming Lease, _ context: ExchangeContext, since sent: MonotonicTime,
        _ attempt: inout Attempt, _ asksToClose: Bool
    ) throws -> Answer {
        guard wake == .ready else { throw context.failure(wake, in: .firstByte, since: sent, attempt) }
        var reader = ResponseReader(lease.connection.stream, context)
        var heads = Heads(limits: context.terms.limits)
        let chunk = try reader.nextNow(upTo: lease.connection.firstReadSize, in: .firstByte, &attempt)
        if let chunk {
            let now = context.clock.now()
            attempt[.firstByte] = now.nanoseconds - sent.nanoseconds
            if let received = try take(chunk, at: now, &heads, context, attempt) {
                return .whole(try finish(received, reader, lease, context, &attempt, asksToClose))
            }
        }
        let partial = UnfinishedExchange.Partial(
            heads, sent: sent, mayHaveMore: reader.mayHaveMore, asksToClose: asksToClose)
        return .unfinished(UnfinishedExchange(.partial(partial, lease), context, attempt))
    }

    @inline(__always)
    private static func take(
        _ chunk: consuming [UInt8], at now: MonotonicTime, _ heads: inout Heads, _ context: ExchangeContext,
        _ attempt: Attempt
    ) throws -> Received? {
        do throws(WireError) {
            return try heads.take(chunk, at: now)
        } catch {
            throw context.invalid(error, .idle, attempt)
        }
    }

    /// A final response head, the interim ones before it, and the bytes that came after it.
    struct Received: ~Copyable, Sendable {
        var parsed: ParsedHead
        var interim: [ResponseHead]
        var rest: Bytes
        /// When the last byte of the head came.
        var at: MonotonicTime
        /// The request was not sent to its end: nothing may follow it on this connection.
        var requestWasCut = false
        /// What still sends the request, or did to the end of it.
        var upload: Upload?
    }

    /// The heads of one response as they come.
    struct Heads {
        private var parser: HeadParser
        private var interim: [ResponseHead] = []

        init(limits: WireLimits) {
            parser = HeadParser(limits: limits)
        }

        /// Nothing of a head has come that is not whole.
        var isEmpty: Bool { parser.isEmpty }

        /// The server wants the request's body (RFC 9110 §15.2.1).
        var hasLeave: Bool { interim.contains { $0.status == .continue } }

        /// Takes in what was read, nothing at the end of the stream; the final head once it is there.
        @inline(never)
        mutating func take(_ chunk: consuming [UInt8], at time: MonotonicTime) throws(WireError) -> Received? {
            if chunk.isEmpty { try parser.endOfStream() }
            parser.feed(chunk)
            while let parsed = try parser.next() {
                guard parsed.isInterim else {
                    return Received(parsed: parsed, interim: interim, rest: parser.takeRest(), at: time)
                }
                interim.append(parsed.head)
            }
            return nil
        }
    }

    /// An exchange whose request has a body of its own, or is more than the kernel took at once.
    @inline(never)
    static func exchangeSlowly(
        _ message: consuming Message, over lease: consuming Lease, _ context: ExchangeContext,
        _ attempt: inout Attempt
    ) async throws -> TransportResponse {
        let writer = RequestWriter(context: context, stream: lease.connection.stream)
        var reader = ResponseReader(lease.connection.stream, context)
        let start = sendStart(context, attempt)
        context.interrupt.phase = .send
        let received: Received
        if let rest = message.rest {
            received = try await sendWhileReading(
                message.opening, rest, writer, &reader, lease.connection, start, &attempt)
        } else {
            let length = context.request.body.length
            context.watch?.beginSending(length)
            let failure = try await write(message.opening, from: attempt.bytesSent, writer, &attempt)
            context.watch?.sent(length ?? 0)
            context.interrupt.phase = .firstByte
            let sent = context.clock.now()
            attempt[.send] = sent.nanoseconds - start
            var heads = Heads(limits: context.terms.limits)
            received = try await readHead(&reader, lease.connection, sent, after: failure, &heads, &attempt)
        }
        return try finish(received, reader, lease, context, &attempt, message.asksToClose)
    }

    /// The final head, after what has come of one already. `sent` is nil while the request is still on its way.
    static func readHead(
        _ reader: inout ResponseReader, _ connection: Connection, _ sent: MonotonicTime?, _ heads: inout Heads,
        _ attempt: inout Attempt
    ) async throws -> Received {
        let context = reader.context
        let (waiting, sent) = (sent == nil ? Phase.send : .firstByte, sent ?? context.clock.now())
        var (phase, since) = heads.isEmpty ? (waiting, sent) : (.idle, context.clock.now())
        while true {
            let chunk = try await reader.next(upTo: connection.firstReadSize, in: phase, since: since, &attempt)
            since = context.clock.now()
            if phase == waiting {
                attempt[.firstByte] = since.nanoseconds - sent.nanoseconds
                phase = .idle
            }
            if let final = try take(chunk, at: since, &heads, context, attempt) { return final }
            // Interim responses do not count as the answer: the wait for it goes on.
            if heads.isEmpty { (phase, since) = (waiting, sent) }
        }
    }

    @inline(never)
    static func finish(
        _ received: consuming Received, _ reader: consuming ResponseReader, _ lease: consuming Lease,
        _ context: ExchangeContext, _ attempt: inout Attempt, _ asksToClose: Bool
    ) throws -> TransportResponse {
        let framing: MessageFraming
        let whole: (body: Bytes, end: Int)?
        let endsConnection: Bool
        var trailers: Fields?
        do throws(WireError) {
            framing = try received.parsed.framing(for: context.method)
            endsConnection = !framing.canReuse || asksToClose
            // A response does not end before its request, unless it refuses that.
            let isSettled = received.upload.map { $0.isSettled(endingConnection: endsConnection) } ?? true
            whole =
                isSettled ? try Self.wholeBody(of: received.rest, framing.body, context.terms.limits, &trailers) : nil
        } catch {
            throw context.invalid(error, .idle, attempt)
        }
        guard framing.body != .upgrade else {
            // The seam for other protocols: nobody here asks for one yet.
            throw context.error(.invalidResponse, "the server switched protocols unasked", .idle, attempt)
        }
        if let seconds = framing.keepAliveTimeout { lease.connection.serverKeeps(for: seconds) }
        let canReuse =
            !endsConnection && !received.requestWasCut && !lease.connection.isForOneRequest
        guard let whole else {
            context.interrupt.phase = .idle
            let reading = ConnectionBody.Reading(
                lease: lease, reader: reader, body: BodyReader(framing.body, limits: context.terms.limits),
                chunk: received.rest, upload: received.upload, canReuse: canReuse, endsConnection: endsConnection)
            return TransportResponse(
                head: received.parsed.head, interim: received.interim,
                body: .stream(ConnectionBody(reading, framing.body, attempt)), attempt: attempt,
                answering: context.request)
        }
        context.interrupt.disarm()
        attempt.ended = received.at
        attempt.bodyBytes = whole.body.count
        attempt.decodedBytes = whole.body.count
        lease.connection.expectResponses(of: attempt.bytesReceived)
        // Bytes after the message answer no question of ours; a full buffer may hide some.
        if canReuse, whole.end == received.rest.count, !reader.mayHaveMore || lease.connection.stream.isStillSilent() {
            lease.giveBack(at: received.at)
        }
        return TransportResponse(
            head: received.parsed.head, interim: received.interim, body: .bytes(whole.body), trailers: trailers,
            attempt: attempt, answering: context.request)
    }

    /// The body, and where it ends, if all of it came with the head; nil otherwise.
    private static func wholeBody(
        of rest: Bytes, _ framing: BodyFraming, _ limits: WireLimits, _ trailers: inout Fields?
    ) throws(WireError) -> (body: Bytes, end: Int)? {
        switch framing {
        case .none:
            return (.empty, 0)
        case .length(let length):
            return rest.count < length ? nil : (rest[0..<length], length)
        case .untilClose, .upgrade:
            return nil
        case .chunked:
            var reader = BodyReader(framing, limits: limits)
            var pieces: [Range<Int>] = []
            while true {
                switch try reader.next(in: rest.span.bytes, from: pieces.last?.upperBound ?? 0) {
                case .data(let range): pieces.append(range)
                case .needMore: return nil
                case .end(let end):
                    trailers = reader.trailers
                    return (pieces.count == 1 ? rest[pieces[0]] : Bytes(pieces.flatMap { rest[$0] }), end)
                }
            }
        }
    }
}
