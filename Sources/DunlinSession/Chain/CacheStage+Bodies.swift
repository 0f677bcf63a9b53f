internal import DunlinCache
internal import DunlinReactor
internal import DunlinSemantics
internal import DunlinTransport

/// The bodies that come from a store, and what happens if they cannot be read.
extension CacheStage {
    /// The body to serve; nil if it cannot be read, and then the stored response is ignored from now on. A long body's
    /// beginning is read well before the caller gets the head.
    func body(
        of stored: StoredResponse, as form: CachedForm, _ hop: HTTP.Hop, _ sending: inout Sending
    ) async throws -> TransportResponse.Body? {
        let range: Range<Int>
        switch form {
        case .head, .notModified: return .bytes(.empty)
        case .whole: range = 0..<stored.body.count
        case .range(let bytes, _):
            let start = stored.entry.body.range.lowerBound
            range = (bytes.lowerBound - start)..<(bytes.upperBound - start)
        }
        if let bytes = stored.body.bytes { return .bytes(bytes[range]) }
        return try await stream(stored, range, hop, &sending).map { .stream($0) }
    }

    private func stream(
        _ stored: StoredResponse, _ range: Range<Int>, _ hop: HTTP.Hop, _ sending: inout Sending
    ) async throws -> StoredBodyStream? {
        let stream = StoredBodyStream(
            stored.body, range, hop, within: sending.bodyStoreWait, control: sending.ownControl)
        do {
            try await stream.begin()
            return stream
        } catch  where error.isDamageOfStore {
            await sending.reject(stored)
            return nil
        }
    }

    // MARK: - Joined

    /// Whether a response may be the rest of a stored beginning, by its head and its place in the chain.
    func isRest(_ response: TransportResponse, of stored: StoredResponse, _ sending: Sending) -> Bool {
        guard !sending.hasMadeBody, let promised = Self.rest(response.head, of: stored) else { return false }
        let length =
            switch response.body {
            case .stream(let stream): stream.expectedLength
            case .bytes(let bytes): Int?.some(bytes.count)
            }
        return length == nil || length == promised
    }

    /// The number of bytes missing from a stored beginning.
    private static func rest(_ head: ResponseHead, of stored: StoredResponse) -> Int? {
        guard let complete = ContentRange(head.fields)?.complete, complete >= stored.entry.body.range.upperBound else {
            return nil
        }
        return complete - stored.entry.body.range.upperBound
    }

    /// A stored beginning followed by the network's body, which is being stored: `passed` is `response` with that. Nil
    /// if the stored part cannot be read.
    func joined(
        _ stored: StoredResponse, _ head: ResponseHead, _ passed: TransportResponse, _ response: TransportResponse,
        _ sending: inout Sending
    ) async throws -> TransportResponse? {
        guard !sending.useless.contains(stored.id), let count = Self.rest(response.head, of: stored),
            let beginning = try await stream(stored, 0..<stored.body.count, passed.hop, &sending)
        else { return nil }
        let body: any TransportResponse.BodyStream =
            switch passed.body {
            case .stream(let stream): stream
            case .bytes(let bytes): WholeBodyStream(bytes, passed)
            }
        let (store, wait) = (cache.store, sending.storeWait)
        let rest = JoinedBody.Rest(body: body, count: count) { await store.remove([stored], within: wait) }
        sending.served = stored
        return passed.replacing(head, .stream(JoinedBody(beginning, rest, control: sending.ownControl)), Fields())
    }
}

extension Sending {
    /// The hop of a response for which nothing was sent.
    var hopOfStored: HTTP.Hop {
        var hop = HTTP.Hop()
        (hop.started, hop.ended) = (start, loop.now())
        return hop
    }

    /// Whether the session's own request would be sent like the caller's. If not, the caller waits: a password from a
    /// redirect is known to this call alone, interceptors around exchanges may find a token by the caller's task, and
    /// requests by the code of an interceptor, handler or refresh are sent differently.
    var mayAskInBackground: Bool {
        callHistory?.password == nil && chain.exchangeInterceptors.isEmpty && !session.runsOwnCode
    }

    /// How long the stages wait for a store.
    var storeWait: StoreWait {
        StoreWait(
            loop: loop, deadline: request.deadline, total: request.timeouts.total, cancellation: cancellation)
    }

    /// How long a body's reader waits for a store. With custom transports, bodies are read within work that is
    /// cancelled by its Swift task.
    var bodyStoreWait: StoreWait {
        StoreWait(
            loop: loop, deadline: request.deadline, total: request.timeouts.total,
            cancellation: callTransport.sockets == nil ? nil : cancellation)
    }

    /// Reports to observers of events whether a response was stored after its request had ended; nil without observers.
    var whenStored: (@Sendable (Bool) -> Void)? {
        guard session.hub.hasReaders else { return nil }
        let (hub, snapshot) = (session.hub, snapshot)
        return { hub.tell(.storingEnded(snapshot, isStored: $0)) }
    }

    /// The control; nil if the transport counts all bodies itself.
    fileprivate var ownControl: TransferControl? { callTransport.sockets == nil ? nil : control }
}

extension Error {
    /// Whether a body could not be read because its stored part is damaged, gone, or too slow.
    var isDamageOfStore: Bool { (self as? NetworkError)?.underlying is CacheDamage }
}
