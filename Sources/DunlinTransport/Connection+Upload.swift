internal import DunlinReactor
internal import DunlinTypes
internal import DunlinWire

/// A request body that does not fit one write goes out while the response is awaited and read, because a server may
/// answer before it has read everything, and may expect that its answer is read meanwhile.
///
/// A final answer that is no success ends the sending: the server has decided, and what is left would only be thrown
/// away (RFC 9112 §9.6). After any other answer the request is still sent to its end, and the response does not end
/// before that.
extension Connection {
    @inline(never)
    static func sendWhileReading(
        _ opening: Bytes, _ rest: Rest, _ writer: RequestWriter, _ reader: inout ResponseReader,
        _ connection: Connection, _ start: Int64, _ attempt: inout Attempt
    ) async throws -> Received {
        let context = writer.context
        var heads = Heads(limits: context.terms.limits)
        var opening = opening
        if rest.expectsContinue {
            try await writer.write(opening, &attempt)
            opening = .empty
            attempt[.send] = context.clock.now().nanoseconds - start
            let answer = try await waitForLeave(&reader, connection, &heads, &attempt)
            if var answer {
                answer.requestWasCut = true
                return answer
            }
        }
        guard let scope = rest.uploads else {
            return try await send(context.request.body, &heads, writer, &reader, connection, start, &attempt)
        }
        let upload = Upload(opening, rest.file, writer, after: attempt.bytesSent)
        scope.start(upload)
        do {
            let begun = context.clock.now()
            var received = try await readHead(&reader, connection, nil, &heads, &attempt)
            upload.noteAnswer()
            let ended = upload.ended ?? received.at
            attempt[.send] = ended.nanoseconds - start
            attempt[.firstByte] = max(0, begun.nanoseconds + attempt[.firstByte] - ended.nanoseconds)
            attempt.bytesSent = upload.bytesSent
            if received.parsed.head.status.isSuccess || upload.isComplete {
                received.upload = upload
            } else {
                received.requestWasCut = true
                upload.stop()
            }
            return received
        } catch {
            upload.stop()
            throw upload.explain(error)
        }
    }

    /// A small body that has waited for leave.
    private static func send(
        _ body: RequestBody, _ heads: inout Heads, _ writer: RequestWriter, _ reader: inout ResponseReader,
        _ connection: Connection, _ start: Int64, _ attempt: inout Attempt
    ) async throws -> Received {
        writer.context.watch?.beginSending(body.length)
        if case .bytes(let bytes) = body.content { try await writer.write(bytes, counted: true, &attempt) }
        let sent = writer.context.clock.now()
        attempt[.send] = sent.nanoseconds - start
        return try await readHead(&reader, connection, sent, &heads, &attempt)
    }

    /// Waits for a 100, or as long as the request allows (RFC 9110 §10.1.1); a final answer that came instead.
    private static func waitForLeave(
        _ reader: inout ResponseReader, _ connection: Connection, _ heads: inout Heads, _ attempt: inout Attempt
    ) async throws -> Received? {
        let context = reader.context
        let sent = context.clock.now()
        let patience = sent.advanced(by: context.request.continueTimeout.clampedNanoseconds)
        while !heads.hasLeave {
            let chunk = try await reader.next(
                upTo: connection.firstReadSize, in: .firstByte, since: sent, before: patience, &attempt)
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
        return nil
    }
}
