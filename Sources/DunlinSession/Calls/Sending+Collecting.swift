internal import DunlinReactor
internal import DunlinTransport

/// Reads a body to its end, up to the call's limit.
extension Sending {
    private var limit: Int? { call.reading.limit }

    /// The response with its whole body, and that body.
    typealias Whole = (response: TransportResponse, body: Bytes)

    func collect(_ response: TransportResponse) async throws -> Whole {
        do {
            return try await collected(response)
        } catch {
            throw failing(error, on: response)
        }
    }

    private func collected(_ response: TransportResponse) async throws -> Whole {
        let stream: any TransportResponse.BodyStream
        switch response.body {
        case .bytes(let body):
            do {
                try check(body.count, response.head)
            } catch {
                throw response.head.status.isSuccess ? error : error.keeping(body.beginning(upTo: wanted))
            }
            return (response, body)
        case .stream(let arriving): stream = arriving
        }
        let bytes: Bytes
        do {
            bytes = try await read(stream, response.head)
        } catch var error as NetworkError {
            error.response = error.response ?? response.head
            error.body = error.body?.beginning(upTo: wanted)
            throw error
        }
        return (response.with(.bytes(bytes), response.latestHop, trailers: stream.trailers), bytes)
    }

    private func read(_ stream: any TransportResponse.BodyStream, _ head: ResponseHead) async throws -> Bytes {
        if callTransport.sockets != nil { return try await bytes(of: stream, head) }
        return try await readWithinLimits(stream, head)
    }

    // Not inlined, nor is `beginning`: the rest stands in place wherever a body is collected.
    @inline(never)
    private func readWithinLimits(
        _ stream: any TransportResponse.BodyStream, _ head: ResponseHead
    ) async throws -> Bytes {
        let sending = self
        return try await withinLimits(in: .receive) { try await sending.bytes(of: stream, head) }
    }

    private func bytes(of stream: any TransportResponse.BodyStream, _ head: ResponseHead) async throws -> Bytes {
        if let length = stream.expectedLength {
            do {
                try check(length, head)
            } catch {
                throw head.status.isSuccess ? error : error.keeping(try await beginning(of: stream))
            }
        }
        return try await stream.readAll { try check($0, head) }
    }

    /// How much of a body is kept for the error if it is too long.
    private var wanted: Int { min(limit ?? .max, call.reading.kept) }

    /// The beginning of an error response's body: as much as is allowed, even if the body is longer.
    @inline(never)
    private func beginning(of stream: any TransportResponse.BodyStream) async throws -> Bytes {
        var beginning = CollectedBody(expecting: nil)
        do {
            while beginning.count < wanted, let piece = try await stream.next() { beginning.append(piece) }
        } catch {
            throw error.keeping(beginning.bytes)
        }
        return beginning.bytes.beginning(upTo: wanted)
    }

    private func check(_ count: Int, _ head: ResponseHead) throws {
        guard let limit, count > limit else { return }
        throw NetworkError(
            .limitExceeded, "the body has more than \(limit) bytes: stream it, or allow more with `bodyLimit`",
            phase: .receive, requestMayHaveBeenSent: true, response: head)
    }
}
