internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport
internal import Synchronization

/// Sends one of several identical hops that are under way at the same time, and shares its result with the others.
///
/// It is for calls that want their whole response. What is shared is complete before anybody gets it, so nobody waits
/// for another's reading.
struct CoalescingStage: Stage {
    let largestBody: Int
    let exchanges = SharedExchanges()

    func interest(in sending: Sending) -> StageInterest { .everything }

    func send(
        _ request: TransportRequest, _ sending: inout Sending, _ next: Next
    ) async throws -> TransportResponse {
        if !request.head.method.isSafe {
            // It may change what is at its URL.
            defer { exchanges.forget(CacheKey(request.head)) }
            return try await next(request, &sending)
        }
        // After waiting, the user may be another one, as after passwords were forgotten.
        while let (key, access) = try Self.key(of: request, &sending) {
            let outcome: Settlement<SharedExchanges.Outcome>
            switch exchanges.enter(key) {
            case .first(let turn): return try await send(request, turn, access, &sending, next)
            case .later(let later): outcome = later
            }
            sending.note(.joined)
            defer { exchanges.leave(key, outcome) }
            switch try await Self.wait(for: outcome, sending) {
            case .answer(let answer):
                try sending.checkCancellation()
                sending.hasMadeBody = answer.hasMadeBody
                sending.delegate.observation?.answered(request.head, by: answer.response.head)
                if let use = answer.cacheUse { sending.callHistory = sending.callHistory.noting(use.collapsed, nil) }
                return Self.answer(answer.response, sending)
            case .failure(let error): throw Self.shared(error, sending)
            case .alone: return try await next(request, &sending)
            case .again: continue
            }
        }
        return try await next(request, &sending)
    }

    // MARK: - Later ones

    private static func wait(
        for outcome: Settlement<SharedExchanges.Outcome>, _ sending: Sending
    ) async throws -> SharedExchanges.Outcome {
        let waiter = ValueWaiter<SharedExchanges.Outcome>(on: sending.loop)
        let number = outcome.whenSettled { _ = waiter.deliver($0) }
        // A request that is cancelled or late leaves nothing behind, however long the other takes.
        defer { if let number { outcome.giveUp(number) } }
        return try await sending.value(
            of: waiter, isUnsent: true,
            late: "timed out waiting for an identical request, whose response it was to share")
    }

    /// The key that identical hops share, and the access; nil for hops that are never shared.
    private static func key(
        of request: TransportRequest, _ sending: inout Sending
    ) throws -> (SharedExchanges.Key, Access)? {
        guard sending.call.kind == .data, request.head.method == .get, request.body.isNone,
            // After a change, what was asked for before is not the answer.
            sending.callHistory?.redirects.allSatisfy(\.method.isSafe) ?? true,
            sending.call.options.isShared,
            sending.session.owner.mayBeAwaited(by: sending.delegate.id)
        else { return nil }
        let access = try sending.access(to: request)
        guard access.isKept else { return nil }
        var fields = ""
        for field in access.head.fields { fields += "\n\(field.name.lowercased()): \(field.value)" }
        let (asker, url) = (access.asker, CacheKey(access.head))
        let key = SharedExchanges.Key(
            url: url, user: ExactText(asker.user), terms: ExactText(asker.terms),
            options: SharedExchanges.AlikeOptions(options: sending.call.options),
            fields: ExactText(fields), jar: access.jar,
            removals: sending.session.configuration.cache?.store.removals(of: url))
        return (key, access)
    }

    private static func answer(_ response: TransportResponse, _ sending: Sending) -> TransportResponse {
        TransportResponse(
            head: response.head, interim: [], body: response.body, trailers: response.trailers,
            hop: sending.hopOfStored, answering: nil, hiding: response.secretFields)
    }

    /// An error of another call, where its bytes are counted. Its hop is how long this one waited.
    private static func shared(_ error: NetworkError, _ sending: Sending) -> NetworkError {
        var error = error
        error.hop = sending.hopOfStored
        return error
    }

    // MARK: - The first

    /// Sends, and ends the turn.
    private func send(
        _ request: TransportRequest, _ turn: SharedExchanges.Turn, _ access: Access, _ sending: inout Sending,
        _ next: Next
    ) async throws -> TransportResponse {
        // The others look for themselves, unless another end comes before.
        defer { turn.end(.again) }
        while true {
            let response: TransportResponse
            do {
                response = try await next(request, &sending)
            } catch {
                turn.end(Self.outcome(of: error, sending))
                throw error
            }
            switch sending.confirmation(of: access, over: response.hop) {
            case .elsewhere:
                // An interceptor may send each of them elsewhere.
                turn.end(.alone)
                return response
            case .confirmed where !Self.hasOtherCookies(access, sending): break
            // The answer is for another user than the one whom the others asked for.
            case .confirmed, .otherUser: return response
            }
            do {
                return try await sending.judging(response) { try await share(response, turn, $0) }
            } catch  where error.isDamageOfStore {
                try await sending.forgetServed(after: error)
            }
            try sending.again(.cache)
        }
    }

    /// Whether the hop was sent with other cookies: the jar's may have become another user's before it was sent, and
    /// the former user's again since.
    private static func hasOtherCookies(_ access: Access, _ sending: Sending) -> Bool {
        guard let sent = sending.withCookies else { return false }
        return sent.head.fields.rawValues(of: "cookie") != access.head.fields.rawValues(of: "cookie")
    }

    /// The response as it is delivered, after the others have got it.
    private func share(
        _ response: TransportResponse, _ turn: SharedExchanges.Turn, _ sending: Sending
    ) async throws -> TransportResponse {
        let whole: TransportResponse
        do {
            whole = try await collected(response, sending)
        } catch {
            // If the stored response is damaged, the hop is sent again, and the others wait for the result.
            if !error.isDamageOfStore { turn.end(Self.outcome(of: error, sending)) }
            throw error
        }
        guard case .bytes = whole.body else {
            turn.end(.alone)
            return whole
        }
        turn.end(
            .answer(
                SharedExchanges.Answer(
                    response: whole, cacheUse: sending.callHistory?.steps.cacheUse,
                    hasMadeBody: sending.hasMadeBody)))
        return whole
    }

    /// The response with its whole body; or as it came, if the body is too long, endless, or that of a redirect or
    /// error, which may be discarded early.
    private func collected(_ response: TransportResponse, _ sending: Sending) async throws -> TransportResponse {
        guard case .stream(let stream) = response.body, response.head.status.isSuccess,
            stream.expectedLength ?? 0 <= largestBody,
            response.head.fields["content-type"]?.lowercased().hasPrefix("text/event-stream") != true
        else { return response }
        let body = try await BegunBody.collected(stream, upTo: largestBody) {
            try await Self.piece(of: stream, sending)
        }
        guard case .bytes = body else { return response.with(body, response.hop) }
        return response.with(body, stream.hop, trailers: stream.trailers)
    }

    private static func piece(
        of stream: any TransportResponse.BodyStream, _ sending: Sending
    ) async throws -> Bytes? {
        if sending.callTransport.sockets != nil { return try await stream.next() }
        return try await sending.withinLimits(in: .receive) { try await stream.next() }
    }

    /// The outcome for the others. Network failures affect them too; the reason why this request was given up does not,
    /// nor does damage of the stored response that it was served: the others look for themselves.
    private static func outcome(of error: any Error, _ sending: Sending) -> SharedExchanges.Outcome {
        if error is CancellationError || error.isDamageOfStore { return .again }
        guard let error = error as? NetworkError else { return .alone }
        switch error.code {
        // The session's handler may cancel too, and then speaks for all of them.
        case .cancelled where sending.cancellation.cause != nil: return .again
        case .sessionShutDown, .sentTooOften: return .again
        case .timedOut where error.exceeded == .total: return .again
        default: return .failure(error)
        }
    }
}

/// A body whose beginning has been read already.
final class BegunBody: PassedBody {
    let stream: any TransportResponse.BodyStream
    /// Has the beginning until it is returned.
    private let reader: SoleReader<Bytes>

    private init(_ beginning: Bytes, _ stream: any TransportResponse.BodyStream) {
        self.stream = stream
        reader = SoleReader(beginning, after: stream.hop)
    }

    /// All that `next` brings of a stream; if that exceeds `limit` bytes, what was read and the rest as another stream.
    /// It uses one buffer: the peer chooses how small the pieces are, and each would take its own memory.
    static func collected(
        _ stream: any TransportResponse.BodyStream, upTo limit: Int, _ next: () async throws -> Bytes?
    ) async throws -> TransportResponse.Body {
        var body = CollectedBody(expecting: stream.expectedLength)
        while let piece = try await next() {
            body.append(piece)
            if body.count > limit { return .stream(BegunBody(body.bytes, stream)) }
        }
        return .bytes(body.bytes)
    }

    func next() async throws -> Bytes? {
        switch reader.begin() {
        case .over: return try await stream.next()
        case .failed(let error): throw error
        case .read(let beginning):
            reader.end()
            return beginning
        }
    }
}
