internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// One request and its response: it leases a connection, writes the request, reads the head of the answer, determines
/// from it where the body ends, and delivers the body.
///
/// A body that arrived with its head is delivered whole, and the connection goes back to the pool here; otherwise the
/// lease moves into a `ConnectionBody`, which reads on demand. A request whose body is not sent with its head is sent
/// while the answer is awaited: see `Exchange+Upload`.
///
/// The exchange knows framing; nothing above it does. It must not know how connections are opened, nor whether they are
/// secure. Every error releases the lease, which closes the connection.
struct Exchange: ~Copyable {
    let lease: Lease
    var reader: ResponseReader
    var heads: AnswerHeads
    var hop: HTTP.Hop

    var context: ExchangeContext { reader.context }
    var writer: RequestWriter { RequestWriter(context: reader.context, stream: reader.stream) }

    // Inlined, like all steps of every request that do not wait: a call of an asynchronous function costs about 150
    // instructions, and there are five.
    @inline(__always)
    static func run(
        _ context: ExchangeContext, through transport: SocketTransport, _ uploads: UploadScope?
    ) async throws -> TransportResponse {
        var file: FileSource?
        if case .file(let body) = context.request.body.content {
            file = try await FileSource.open(body, for: context)
        }
        let message = try RequestMessage(of: context, file, uploads)
        var hop = context.hop
        let lease = try await transport.lease(context, &hop)
        var exchange = Exchange(over: lease, context, hop)
        try exchange.begin()
        if let observer = context.observer { exchange.tell(observer, of: message.opening) }
        let answer =
            if let body = message.body {
                try await exchange.sendWhileReading(message.opening, body)
            } else {
                try await exchange.send(message.opening)
            }
        let upload = answer.upload
        do {
            return try exchange.receive(answer, asksToClose: message.asksToClose)
        } catch {
            upload?.stop()
            throw upload?.explain(error) ?? error
        }
    }

    private init(over lease: consuming Lease, _ context: ExchangeContext, _ hop: consuming HTTP.Hop) {
        reader = ResponseReader(lease.connection.stream, context)
        heads = AnswerHeads(limits: context.terms.limits)
        self.lease = lease
        self.hop = hop
    }

    /// Makes a cancel reach the connection from now on.
    private func begin() throws {
        lease.connection.countExchange()
        guard context.cancellation.arm(lease.connection.channel, turn: lease.turn) else {
            throw context.cancelled(.send, hop)
        }
    }
}

// MARK: - The request

extension Exchange {
    /// Sends a request that is entirely in its opening, and reads the head of the answer.
    @inline(__always)
    private mutating func send(_ opening: Bytes) async throws -> Answer {
        let length = context.request.body.length
        context.control?.beginSending(length)
        var (failure, rest) = (NetworkError?.none, opening)
        // Usually the kernel takes all of it.
        if try context.control != nil || !writer.writeNow(&rest, &hop) { failure = try await write(rest) }
        hop.requestBodyBytes = max(0, hop.bytesSent - opening.count + (length ?? 0))
        context.control?.sent(length ?? 0)
        context.observer?.saw(.requestSent(bytes: hop.bytesSent))
        let sent = context.clock.now()
        noteSent(at: sent)
        if let failure { return try await readRefusal(after: failure, sent: sent) }
        return try await readHead(sent: sent)
    }

    /// Notes that the request has been sent.
    @inline(__always)
    mutating func noteSent(at time: HTTP.Instant) {
        hop.noteSent(at: time)
        context.clock.requestWasSent(at: time, hop)
    }

    /// Writes while nobody reads. Returns the error if the peer was gone before it had everything: it may have answered
    /// why.
    mutating func write(
        _ bytes: Bytes, counted: Bool = false, checksEnd: Bool = false
    ) async throws -> NetworkError? {
        var writer = writer
        writer.checksEnd = checksEnd
        do {
            context.cancellation.phase = .send
            defer { context.cancellation.phase = .firstByte }
            try await writer.write(bytes, counted: counted, &hop)
            return nil
        } catch let error as NetworkError where error.code == .connectionClosed && hop.bytesSent > 0 {
            return error
        }
    }
}

// MARK: - The answer's head

extension Exchange {
    /// Reads the final head of the answer to a request that could not be written completely, because the peer takes no
    /// more. Only a refusal counts as an answer then.
    mutating func readRefusal(after failure: NetworkError, sent: HTTP.Instant) async throws -> Answer {
        var failure = failure
        do {
            var answer = try await readHead(sent: sent)
            answer.requestWasCut = true
            guard answer.head.status.isSuccess else { return answer }
            failure.response = answer.head
        } catch let error as NetworkError where error.code == .connectionClosed {
            throw failure
        }
        throw failure
    }

    /// Reads the final head of the answer to a request that was `sent` by then. Part of it may have come already.
    mutating func readHead(sent: HTTP.Instant) async throws -> Answer {
        var (phase, since) = heads.isEmpty ? (HTTP.Phase.firstByte, sent) : (.receive, context.clock.now())
        while true {
            let size = lease.connection.firstReadSize
            let chunk = try await reader.next(upTo: size, in: phase, since: since, &hop)
            since = context.clock.now()
            hop.noteReceived(at: since, sent: sent, isFirst: phase == .firstByte)
            phase = .receive
            if let answer = try take(chunk, at: since, in: .receive) { return answer }
            // Interim responses do not count as the answer: the wait for it continues.
            if heads.isEmpty { (phase, since) = (.firstByte, sent) }
        }
    }

    /// Takes what was read. Returns the answer once its final head has come.
    mutating func take(_ chunk: consuming [UInt8], at now: HTTP.Instant, in phase: HTTP.Phase) throws -> Answer? {
        if let observer = context.observer { return try take(chunk, at: now, in: phase, for: observer) }
        do throws(WireError) {
            return try heads.take(chunk, at: now)
        } catch {
            throw context.invalid(error, phase, hop)
        }
    }
}

// MARK: - Who observes

extension Exchange {
    private func tell(_ observer: any WireObserver, of opening: Bytes) {
        observer.saw(.connected(hop.connection, to: hop.peer, hop.security, isReused: hop.isConnectionReused))
        observer.sees(opening, of: context.request.head)
    }

    /// Reports each head as soon as it has come, even of an answer that turns out to be invalid later.
    private mutating func take(
        _ chunk: consuming [UInt8], at now: HTTP.Instant, in phase: HTTP.Phase, for observer: any WireObserver
    ) throws -> Answer? {
        // A second reference to the bytes would make the parser copy them.
        if observer.wantedBytes != nil { observer.sees(received: Bytes(copy chunk), as: .all) }
        let reported = heads.interim.count
        do throws(WireError) {
            let answer = try heads.take(chunk, at: now)
            for head in heads.interim.dropFirst(reported) { observer.saw(.interimHead(head)) }
            switch consume answer {
            case .some(let answer):
                if observer.wantsAll { observer.saw(.responseHead(answer.head)) }
                return answer
            case .none: return nil
            }
        } catch {
            for head in heads.interim.dropFirst(reported) { observer.saw(.interimHead(head)) }
            throw context.invalid(error, phase, hop)
        }
    }
}

// MARK: - Framing and the body

extension Exchange {
    /// Determines from the head where the body ends, and delivers what has come of it.
    private consuming func receive(_ answer: consuming Answer, asksToClose: Bool) throws -> TransportResponse {
        let framing = try context.framing(of: answer, hop)
        if framing.body == .upgrade { return try switchProtocols(answer) }
        if let seconds = framing.keepAliveTimeout { lease.connection.serverKeeps(for: seconds) }
        let endsConnection = !framing.canReuse || asksToClose
        let canReuse = !endsConnection && !answer.requestWasCut && !lease.connection.isForOneRequest
        // A response does not end before its request, unless it refuses that.
        let isSettled = answer.upload.map { $0.isSettled(endingConnection: endsConnection) } ?? true
        if isSettled, let body = try wholeBody(of: answer, framing.body) {
            return end(answer, body, canReuse: canReuse)
        }
        return readOn(answer, framing.body, canReuse: canReuse, endsConnection: endsConnection)
    }

    /// The body, if all of it came with the head.
    private func wholeBody(of answer: borrowing Answer, _ framing: BodyFraming) throws -> WholeBody? {
        do throws(WireError) {
            return try WholeBody(in: answer.rest, framing, context.terms.limits)
        } catch {
            throw context.invalid(error, .receive, hop)
        }
    }

    /// Ends the exchange, because everything has come.
    private consuming func end(_ answer: consuming Answer, _ body: WholeBody, canReuse: Bool) -> TransportResponse {
        context.cancellation.disarm()
        hop.ended = answer.at
        hop.bodyBytes = body.bytes.count
        hop.decodedBytes = body.bytes.count
        let response = TransportResponse(
            head: answer.head, interim: answer.interim, body: .bytes(body.bytes), trailers: body.trailers,
            hop: hop, answering: context.request)
        if let observer = context.observer {
            observer.sees(received: body.bytes, as: .body)
            observer.saw(.responseEnd(bodyBytes: hop.bodyBytes, trailers: response.trailers))
        }
        lease.connection.expectResponses(of: hop.bytesReceived)
        // Bytes after the message answer no request of ours; a full buffer may hide some.
        let isQuiet = body.end == answer.rest.count && (!reader.mayHaveMore || lease.connection.stream.isStillSilent())
        if canReuse, isQuiet { lease.giveBack(at: answer.at) }
        return response
    }

    /// Continues with a body that reads the rest.
    private consuming func readOn(
        _ answer: consuming Answer, _ framing: BodyFraming, canReuse: Bool, endsConnection: Bool
    ) -> TransportResponse {
        let (context, hop) = (context, hop)
        context.cancellation.phase = .receive
        let reading = ConnectionBody.Reading(
            lease: lease, reader: reader, body: BodyReader(framing, limits: context.terms.limits), chunk: answer.rest,
            upload: answer.upload, canReuse: canReuse, endsConnection: endsConnection)
        return TransportResponse(
            head: answer.head, interim: answer.interim,
            body: .stream(ConnectionBody(reading, framing, hop)), hop: hop, answering: context.request)
    }
}
