import Dunlin
import Vapor

/// A session as Vapor's client, which is `app.client` and
/// `request.client`.
struct SessionClient: Client {
    let session: HTTPSession
    let eventLoop: any EventLoop
    var byteBufferAllocator = ByteBufferAllocator()

    func delegating(to eventLoop: any EventLoop) -> any Client {
        SessionClient(
            session: session, eventLoop: eventLoop,
            byteBufferAllocator: byteBufferAllocator)
    }

    func allocating(to allocator: ByteBufferAllocator) -> any Client {
        SessionClient(
            session: session, eventLoop: eventLoop,
            byteBufferAllocator: allocator)
    }

    func send(
        _ request: ClientRequest
    ) -> EventLoopFuture<ClientResponse> {
        eventLoop.makeFutureWithTask { try await response(to: request) }
    }

    private func response(
        to request: ClientRequest
    ) async throws -> ClientResponse {
        var fields = Fields()
        for (name, value) in request.headers {
            fields.append(name: name, value: value)
        }
        let body = request.body.map {
            RequestBody.bytes(Bytes($0.readableBytesView))
        }
        let response = try await session.request(
            HTTP.Target(request.url.string),
            method: HTTP.Method(request.method.rawValue), fields: fields,
            body: body ?? .none,
            timeout: request.timeout.map { .nanoseconds($0.nanoseconds) },
            // Vapor's callers look at the status themselves.
            options: .init(validatesResponse: false), as: .bytes)
        return ClientResponse(
            status: HTTPStatus(statusCode: Int(response.status.code)),
            headers: HTTPHeaders(
                response.fields.map { ($0.name, $0.value) }),
            body: ByteBuffer(bytes: response.value),
            byteBufferAllocator: byteBufferAllocator)
    }
}
