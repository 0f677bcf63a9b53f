internal import DunlinReactor
internal import DunlinTypes

/// A request body that does not fit one write is sent while the response is awaited and read, because a server may
/// answer before it has read everything, and may expect its answer to be read meanwhile.
///
/// A final answer that is not a success ends the sending: the server has decided, and would discard the rest (RFC 9112
/// §9.5). After any other answer the request is sent to its end, and the response does not end before that: a peer that
/// ends first has answered an incomplete request.
extension Exchange {
    /// Sends a request whose body is not sent with its head. Returns the answer.
    mutating func sendWhileReading(_ opening: Bytes, _ body: RequestMessage.Body) async throws -> Answer {
        var opening = opening
        var early: Answer?
        if body.expectsContinue {
            context.cancellation.phase = .send
            try await writer.write(opening, &hop)
            context.cancellation.phase = .firstByte
            opening = .empty
            noteSent(at: context.clock.now())
            if var answer = try await waitForLeave() {
                // If the server wanted the body, a success came early. If it did not, a success means that the body is
                // not needed.
                guard heads.hasLeave, answer.head.status.isSuccess else {
                    answer.requestWasCut = true
                    return answer
                }
                // There was no wait after the request's last byte: until then, all time counts as sending.
                hop[.firstByte] = 0
                early = consume answer
            }
        }
        guard let uploads = body.uploads else { return try await sendAfterLeave(early) }
        context.cancellation.phase = .send
        // While nobody reads: bytes that come before the first byte of a suspended request are no answer to it.
        try await writer.pass(hop)
        let upload = Upload(opening, body.file, writer, after: hop)
        uploads.start(upload)
        do {
            return try await answer(during: upload, early)
        } catch {
            upload.stop()
            throw upload.explain(error, hop)
        }
    }

    /// The answer to a request whose body is being sent; `early` is the answer that has come already.
    private mutating func answer(during upload: Upload, _ early: consuming Answer?) async throws -> Answer {
        var begun = context.clock.now()
        var answer: Answer
        if let early {
            answer = early
            begun = answer.at
        } else {
            answer = try await readHead(during: upload, since: &begun)
        }
        upload.noteAnswer(answer.head)
        let ended = upload.ended ?? answer.at
        noteSent(at: ended)
        let first = begun.nanoseconds + hop[.firstByte]
        hop[.firstByte] = max(0, first - ended.nanoseconds)
        hop[.receive] = max(0, answer.at.nanoseconds - max(first, ended.nanoseconds))
        answer.upload = upload
        if !answer.head.status.isSuccess {
            let isCut = !upload.isComplete
            // A proxy that refuses need not have read what the kernel took: squid never reads it, and still says that
            // it keeps the connection.
            answer.requestWasCut = isCut || context.isForwarded
            if isCut { upload.stop() }
            // The upload failed before the answer could be read further.
            if isCut, case .failed(let error) = upload.outcome { throw error }
        }
        upload.noteSent(in: &hop)
        return answer
    }

    /// Reads the final head of an answer, which may come before the request has been sent.
    ///
    /// While there is more to send, only the total limit applies, or that of silence within the head. After the end of
    /// the request the limit of the first byte counts, without time during which the transfer is suspended. `start` is
    /// when the hop's time until the first byte begins.
    private mutating func readHead(during upload: Upload, since start: inout HTTP.Instant) async throws -> Answer {
        var since = start
        while true {
            let wait = upload.wait(from: since)
            if wait.phase == .firstByte, heads.isEmpty {
                (start, hop[.firstByte]) = (wait.since, 0)
                noteSent(at: start)
                context.cancellation.phase = .firstByte
                return try await readHead(sent: start)
            }
            let size = lease.connection.firstReadSize
            let (isFirst, phase) = (heads.isEmpty, heads.isEmpty ? wait.phase : .receive)
            let chunk = try await reader.next(upTo: size, in: phase, since: since, before: .never, &hop)
            guard let chunk else { continue }
            since = context.clock.now()
            if isFirst, !chunk.isEmpty, !upload.hasBegun { throw context.saidTooEarly(hop) }
            if isFirst { hop[.firstByte] = since.nanoseconds - start.nanoseconds }
            if let answer = try take(chunk, at: since, in: .receive) { return answer }
        }
    }

    /// Sends a small body that waited for the server's consent; `early` is the answer that has come already.
    private mutating func sendAfterLeave(_ early: consuming Answer?) async throws -> Answer {
        let body = context.request.body
        context.control?.beginSending(body.length)
        var failure: NetworkError?
        if case .bytes(let bytes) = body.content {
            // A peer that has answered and ended its side takes nothing more.
            failure = try await write(bytes, counted: true, checksEnd: early != nil)
        }
        context.observer?.saw(.requestSent(bytes: hop.bytesSent))
        let sent = context.clock.now()
        noteSent(at: sent)
        if var early {
            early.at = sent
            guard var failure else { return early }
            failure.response = early.head
            throw failure
        }
        if let failure { return try await readRefusal(after: failure, sent: sent) }
        return try await readHead(sent: sent)
    }

    /// Waits for a 100, at most as long as the request allows (RFC 9110 §10.1.1). Returns a final answer that came
    /// instead.
    ///
    /// Consent may be withdrawn at once, so what has come by then is read, and an answer that has begun is awaited.
    private mutating func waitForLeave() async throws -> Answer? {
        let sent = context.clock.now()
        let waitEnd = sent.advanced(by: context.request.continueTimeout.clampedNanoseconds)
        while true {
            let size = lease.connection.firstReadSize
            let chunk =
                if heads.hasLeave, heads.isEmpty {
                    try reader.nextNow(upTo: size, in: .firstByte, &hop)
                } else {
                    try await reader.next(upTo: size, in: .firstByte, since: sent, before: waitEnd, &hop)
                }
            guard let chunk else { return nil }
            let now = context.clock.now()
            if let answer = try take(chunk, at: now, in: .firstByte) {
                hop[.firstByte] = now.nanoseconds - sent.nanoseconds
                return answer
            }
        }
    }
}
