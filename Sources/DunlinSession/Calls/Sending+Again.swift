internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// What happens between two exchanges of a call.
extension Sending {
    /// Notes that the call is sent again, which begins another hop. Throws if that is too often.
    mutating func again(_ why: SendingReason) throws {
        tellAgain(why)
        try begin(why)
    }

    /// Ends the last exchange for observers, and tells them why there is another.
    mutating func tellAgain(_ why: SendingReason) {
        delegate.observation?.again(why, &self)
    }

    /// Begins a hop: counts it, and forgets what was known of the last one. The first one has no reason. Throws if the
    /// call is over, or would be sent too often.
    mutating func begin(_ why: SendingReason?) throws {
        guard delegate.begin() else { throw NetworkError(.cancelled, "the request has already ended") }
        count.begin(why)
        if why != nil { start = loop.now() }
        (sent, withCookies, hasMadeBody, added, known, served) = (nil, nil, false, [], nil, nil)
        sentRequests.beginHop()
        if callHistory?.steps.refreshRefusal != nil { callHistory = callHistory.with { $0.refreshRefusal = nil } }
        if noted != nil { try noteAccess() }
        // What is not counted is not refused either.
        if count.count > 0, why != .network { try checkCount() }
    }

    /// Forgets what an earlier attempt came to.
    mutating func forgetAttempt() {
        (noted, isRetry, useless) = (nil, false, [])
        if callHistory?.provenance != nil { callHistory = callHistory.with { $0.provenance = nil } }
        sentRequests.beginAttempt()
    }

    /// Counts a request that an interceptor sends after another. Throws if that is too often.
    mutating func addContinuation() throws {
        count.add(.continuation)
        try checkCount()
    }

    private mutating func checkCount() throws {
        let limit = SendingMachine.limit(
            session.configuration.limits.resends, redirects: redirectPolicy.limit, attempts: retryPolicy.attempts)
        guard count.count > limit else { return }
        count.refuse()
        throw NetworkError(
            .sentTooOften,
            "the request was sent again \(count.count) times (\(count.reasons)); at most \(limit) are permitted: "
                + "`limits.resends` plus allowed retries and redirects",
            requestMayHaveBeenSent: true, peer: request.head.origin.description)
    }
}

// MARK: - Responses that are not delivered

extension Sending {
    /// Runs what judges a response. Its error carries the hop that brought the response.
    mutating func judging<Value>(
        _ response: TransportResponse, _ judge: (inout Sending) async throws -> Value
    ) async throws -> Value {
        do {
            return try await judge(&self)
        } catch {
            throw failing(error, on: response)
        }
    }

    /// Discards a response that nobody reads, and gives back its connection: its hop is one of the earlier ones. The
    /// rest of a small body is read first, so that the connection can be reused. Throws if the call is over.
    mutating func discard(_ response: TransportResponse) async throws {
        callHistory.append(try await hop(discarding: response))
    }

    /// Discards a response in the same way. Returns its hop, which is not noted.
    func hop(discarding response: TransportResponse) async throws -> HTTP.Hop {
        guard case .stream(let body) = response.body else { return response.hop }
        do {
            return try await hop(discarding: body)
        } catch {
            throw failing(error, on: response)
        }
    }

    /// Discards a body in the same way.
    func hop(discarding body: any TransportResponse.BodyStream) async throws -> HTTP.Hop {
        if callTransport.sockets != nil {
            let limit = loop.now().advanced(by: Self.longestWait.clampedNanoseconds)
            do {
                if let storing = body as? StoringBody {
                    try await drain(storing, until: limit)
                } else {
                    try await callTransport.drain(body, upTo: Self.smallBody, until: limit)
                }
            } catch {
                // The response's head has come and is enough. An error of its body counts only if it ends the call.
                if cancellation.cause != nil || loop.now() >= request.deadline { throw error }
            }
        }
        ReportingBody.leave(body)
        return CallTransport.source(of: body).hop
    }

    /// Reads the rest of a body that is being stored, such as the page of a redirect, so that it is stored too.
    private func drain(_ body: StoringBody, until limit: HTTP.Instant) async throws {
        var left = Self.smallBody
        if body.expectedLength ?? 0 <= left {
            try callTransport.hurry(body, until: limit)
            while left >= 0, let piece = try await body.next() { left -= piece.count }
        }
        // Closes the connection if the rest is too long; other bodies are at their end.
        try await callTransport.drain(body, upTo: 0, until: limit)
    }

    /// The number of bytes that cost less to read than a new connection, and how long reading them may take.
    private static var smallBody: Int { 64 * 1024 }
    private static var longestWait: Duration { .milliseconds(500) }
}

// MARK: - Stored responses that are useless

extension Sending {
    /// Forgets the stored response that could not be delivered, or that proved to be wrong. Throws the error unless
    /// another may be asked for.
    mutating func forgetServed(after error: any Error) async throws {
        guard let failure = error as? NetworkError, cancellation.cause == nil else { throw error }
        if failure.code == .invalidContent { await forgetStored() }
        guard let served, failure.underlying is CacheDamage || failure.code == .invalidContent else { throw error }
        await reject(served)
        // Nothing was sent for a response that was served without asking.
        if let hop = failure.hop, hop.bytesSent > 0 { callHistory.append(hop) }
    }

    /// Ignores a stored response from now on, for everybody.
    mutating func reject(_ stored: StoredResponse) async {
        useless.insert(stored.id)
        await session.configuration.cache?.store.remove([stored], within: storeWait)
    }

    /// Removes what the cache has for the call's last request, since its content was proven to be wrong: by a digest,
    /// or because it cannot be decoded. Otherwise it would be served until it is stale.
    package func forgetStored() async {
        guard let cache = session.configuration.cache else { return }
        // What was looked for, whatever interceptors around the exchange have sent.
        await cache.store.remove([CacheKey(request.head)], within: storeWait)
    }
}

/// Failures of a call although a response came: a stage, hook, interceptor or sink refused it. That exchange took
/// place, so the error carries its hop, and the metrics include it.
extension Sending {
    /// The error with the hop that brought `response`, unless it has that of a later one.
    package func failing(_ error: any Error, on response: TransportResponse) -> any Error {
        failing(error, after: response.latestHop)
    }

    /// The hop that ended with this error, if it is known.
    func hop(of error: any Error) -> HTTP.Hop? {
        if let failure = error as? NetworkError { return failure.hop }
        return (part?.exchangeOptions?.control ?? control)?.untoldHop
    }

    /// The error with this hop. An error that cannot carry a hop leaves it to the metrics.
    func failing(_ error: any Error, after hop: HTTP.Hop) -> any Error {
        // Whoever made the response measured nothing.
        if hop == HTTP.Hop() { return error }
        var hop = hop
        if hop.ended < hop.started { hop.ended = loop.now() }
        guard var failure = error as? NetworkError else {
            let control = part?.exchangeOptions?.control ?? control
            // A request cancelled while it was under way has reported its hop already.
            if !(error is CancellationError) || control?.untoldHop == nil { control?.untoldHop = hop }
            return error
        }
        if failure.hop == nil { failure.hop = hop }
        return failure
    }
}
