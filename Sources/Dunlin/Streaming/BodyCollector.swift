internal import DunlinReactor

/// Reads a body to its end, up to a limit.
struct BodyCollector {
    let carrier: Carrier
    let delegate: TaskDelegate
    let loop: Reactor
    /// Bytes; nil for any number.
    let limit: Int?
    /// How much of a body that did not come to its end an error carries.
    let kept: Int

    @inline(never)
    func collect(
        _ response: TransportResponse, _ request: TransportRequest, after trail: Trail?
    ) async throws -> HTTPSession.Response<Bytes> {
        let stream: any BodyStream
        switch response.body {
        case .bytes(let body): return try Self.whole(response, body, limit: limit, of: request, after: trail)
        case .stream(let arriving): stream = arriving
        }
        let bytes: Bytes
        do {
            bytes = try await read(stream, response.head, request)
        } catch var error as NetworkError {
            error.response = error.response ?? response.head
            error.body = error.body?.beginning(upTo: kept)
            throw error
        }
        let complete = response.with(.bytes(bytes), stream.attempt, trailers: stream.trailers)
        return HTTPSession.Response(complete, bytes, to: request, after: trail)
    }

    /// The response whose body came with its head.
    @inline(never)
    static func whole(
        _ response: TransportResponse, _ body: Bytes, limit: Int?, of request: consuming TransportRequest,
        after trail: Trail?
    ) throws -> HTTPSession.Response<Bytes> {
        try check(body.count, limit, response.head)
        return HTTPSession.Response(response, body, to: request, after: trail)
    }

    private func read(
        _ stream: any BodyStream, _ head: ResponseHead, _ request: TransportRequest
    ) async throws -> Bytes {
        if let length = stream.expectedLength { try check(length, head) }
        if carrier.sockets != nil { return try await stream.collect { try check($0, head) } }
        let collector = self
        let (deadline, limit) = (request.deadline, request.timeouts.total)
        return try await carrier.foreign(until: deadline, limit, delegate.interrupt, on: loop) {
            try await stream.collect { try collector.check($0, head) }
        }
    }

    private func check(_ count: Int, _ head: ResponseHead) throws {
        try Self.check(count, limit, head)
    }

    private static func check(_ count: Int, _ limit: Int?, _ head: ResponseHead) throws {
        guard let limit, count > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes: stream it, or allow more with bodyBytes",
            phase: .idle, requestMayHaveBeenSent: true, response: head)
    }
}
