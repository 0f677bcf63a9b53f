internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// A request body that does not fit one write goes out while the response is awaited and read, because a server may
/// answer before it has read everything, and may expect that its answer is read meanwhile.
///
/// A final answer that is no success ends the sending: the server has decided, and what is left would only be thrown
/// away (RFC 9112 §9.6). After any other answer the request is still sent to its end, and the response does not end
/// before that: a peer that goes first has answered a request that it did not have.
extension Connection {
    @inline(never)
    static func sendWhileReading(
        _ opening: Bytes, _ rest: Rest, _ writer: RequestWriter, _ reader: inout ResponseReader,
        _ connection: Connection, _ start: Int64, _ attempt: inout Attempt
    ) async throws -> Received {
        let context = writer.context
        var heads = Heads(limits: context.terms.limits)
        var opening = opening
        var early: Received?
        if rest.expectsContinue {
            try await writer.write(opening, &attempt)
            opening = .empty
            attempt[.send] = context.clock.now().nanoseconds - start
            if var answer = try await waitForLeave(&reader, connection, &heads, &attempt) {
                // With leave, a success is one that came early. Without it, it says that the body is not needed.
                guard heads.hasLeave, answer.parsed.head.status.isSuccess else {
                    answer.requestWasCut = true
                    return answer
                }
                early = consume answer
            }
        }
        guard let scope = rest.uploads else {
            return try await send(context.request.body, early, &heads, writer, &reader, connection, start, &attempt)
        }
        let upload = Upload(opening, rest.file, writer, after: attempt.bytesSent)
        scope.start(upload)
        do {
            return try await answered(upload, early, &heads, &reader, connection, start, &attempt)
        } catch {
            upload.stop()
            throw upload.explain(error)
        }
    }

    /// What is answered to a request whose body is on its way; `early` is the answer that is here already.
    private static func answered(
        _ upload: Upload, _ early: consuming Received?, _ heads: inout Heads, _ reader: inout ResponseReader,
        _ connection: Connection, _ start: Int64, _ attempt: inout Attempt
    ) async throws -> Received {
        let begun = reader.context.clock.now()
        var received: Received
        if let early {
            received = early
        } else {
            received = try await readHead(&reader, connection, nil, &heads, &attempt)
        }
        upload.noteAnswer(received.parsed.head)
        let ended = upload.ended ?? received.at
        attempt[.send] = ended.nanoseconds - start
        attempt[.firstByte] = max(0, begun.nanoseconds + attempt[.firstByte] - ended.nanoseconds)
        received.upload = upload
        if !received.parsed.head.status.isSuccess, !upload.isComplete {
            received.requestWasCut = true
            upload.stop()
            // What went wrong here went wrong before the answer could be read on.
            if case .failed(let error) = upload.outcome { throw error }
        }
        attempt.bytesSent = upload.bytesSent
        return received
    }

    /// A small body that has waited for leave.
    private static func send(
        _ body: RequestBody, _ early: consuming Received?, _ heads: inout Heads, _ writer: RequestWriter,
        _ reader: inout ResponseReader, _ connection: Connection, _ start: Int64, _ attempt: inout Attempt
    ) async throws -> Received {
        writer.context.watch?.beginSending(body.length)
        var (writer, failure) = (writer, NetworkError?.none)
        // Who has answered already and ended its side takes nothing more.
        writer.heedsEnd = early != nil
        if case .bytes(let bytes) = body.content {
            failure = try await write(bytes, counted: true, writer, &attempt)
        }
        let sent = writer.context.clock.now()
        attempt[.send] = sent.nanoseconds - start
        if let early {
            guard var failure else { return early }
            failure.response = early.parsed.head
            throw failure
        }
        return try await readHead(&reader, connection, sent, after: failure, &heads, &attempt)
    }

    /// Writes what is left of a request without anybody who reads meanwhile. What went wrong if the peer was gone
    /// before it had everything: it may have said why.
    static func write(
        _ bytes: Bytes, from start: Int = 0, counted: Bool = false, _ writer: RequestWriter, _ attempt: inout Attempt
    ) async throws -> NetworkError? {
        do {
            try await writer.write(bytes, from: start, counted: counted, &attempt)
            return nil
        } catch let error as NetworkError where error.code == .connectionClosed && attempt.bytesSent > 0 {
            return error
        }
    }

    /// The final head of an answer to a request of which not everything could be written, if there is a `failure`. Only
    /// a refusal is an answer then.
    static func readHead(
        _ reader: inout ResponseReader, _ connection: Connection, _ sent: MonotonicTime,
        after failure: NetworkError?, _ heads: inout Heads, _ attempt: inout Attempt
    ) async throws -> Received {
        guard var failure else { return try await readHead(&reader, connection, sent, &heads, &attempt) }
        do {
            var received = try await readHead(&reader, connection, sent, &heads, &attempt)
            received.requestWasCut = true
            guard received.parsed.head.status.isSuccess else { return received }
            failure.response = received.parsed.head
        } catch let error as NetworkError where error.code == .connectionClosed {
            throw failure
        }
        throw failure
    }

    /// Waits for a 100, or as long as the request allows (RFC 9110 §10.1.1); a final answer that came instead.
    ///
    /// Leave that is given may be taken back at once, so what is there by then is looked at, and an answer of which
    /// something is there is waited for.
    private static func waitForLeave(
        _ reader: inout ResponseReader, _ connection: Connection, _ heads: inout Heads, _ attempt: inout Attempt
    ) async throws -> Received? {
        let context = reader.context
        let sent = context.clock.now()
        let patience = sent.advanced(by: context.request.continueTimeout.clampedNanoseconds)
        while true {
            let size = connection.firstReadSize
            let chunk =
                if heads.hasLeave, heads.isEmpty {
                    try reader.nextNow(upTo: size, in: .firstByte, &attempt)
                } else {
                    try await reader.next(upTo: size, in: .firstByte, since: sent, before: patience, &attempt)
                }
            guard let chunk else { return nil }
            let now = context.clock.now()
            do throws(WireError) {
                if let final = try heads.take(chunk, at: now) {
                    attempt[.firstByte] = now.nanoseconds - sent.nanoseconds
                    return final
                }
            } catch {
                throw context.invalid(error, .firstByte, attempt)
            }
        }
    }
}
