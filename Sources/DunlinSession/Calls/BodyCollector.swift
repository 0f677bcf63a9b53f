internal import DunlinReactor

/// Reads a body to its end, up to a limit.
struct BodyCollector {
    let call: LiveCall

    private var limit: Int? { call.asked.reading.limit }

    /// The response with its whole body, and that body.
    typealias Whole = (response: TransportResponse, body: Bytes)

    func collect(_ response: TransportResponse) async throws -> Whole {
        do {
            return try await collected(response)
        } catch {
            throw call.failing(error, on: response)
        }
    }

    private func collected(_ response: TransportResponse) async throws -> Whole {
        let stream: any TransportResponse.BodyStream
        switch response.body {
        case .bytes(let body):
            try check(body.count, response.head)
            return (response, body)
        case .stream(let arriving): stream = arriving
        }
        let bytes: Bytes
        do {
            bytes = try await read(stream, response.head)
        } catch var error as NetworkError {
            error.response = error.response ?? response.head
            error.body = error.body?.beginning(upTo: call.asked.reading.kept)
            throw error
        }
        return (response.with(.bytes(bytes), response.latestHop, trailers: stream.trailers), bytes)
    }

    private func read(_ stream: any TransportResponse.BodyStream, _ head: ResponseHead) async throws -> Bytes {
        if let length = stream.expectedLength { try check(length, head) }
        if call.callTransport.sockets != nil { return try await stream.readAll { try check($0, head) } }
        let collector = self
        return try await call.foreign(in: .receive) {
            try await stream.readAll { try collector.check($0, head) }
        }
    }

    private func check(_ count: Int, _ head: ResponseHead) throws {
        guard let limit, count > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes: stream it, or allow more with maximumBodySize",
            phase: .receive, requestMayHaveBeenSent: true, response: head)
    }
}
