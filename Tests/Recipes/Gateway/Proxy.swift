import Dunlin
import DunlinHTTPTypes
import HTTPTypes
import Hummingbird
import NIOCore

/// Passes requests on to the client's base URL, and their responses back.
///
/// Bodies are passed on as they come, both ways: a reader that is slow
/// slows down the sender, and no body is in memory as a whole. Trailers are
/// dropped.
struct Proxy: Sendable {
    let client: HTTPSession

    func respond(to request: Request) async throws -> Response {
        var fields = request.headers.endToEnd
        // The client's log and traces send their own for each exchange.
        let own: Set = ["traceparent", "tracestate", "x-request-id"]
        fields.removeAll { own.contains($0.name.canonicalName) }
        fields.append(HTTPField(name: .via, value: "1.1 gateway"))

        let (response, body) = try await client.stream(
            HTTPRequest(
                method: request.method, scheme: nil, authority: nil,
                path: request.head.path, headerFields: fields),
            body: .arriving(with: request),
            options: .init(
                timeouts: .init(total: .none), decodesContent: false,
                redirects: .none))

        return Response(
            status: response.status,
            headers: response.headerFields.endToEnd,
            body: ResponseBody { writer in
                for try await piece in body {
                    try await writer.write(ByteBuffer(bytes: piece))
                }
                try await writer.finish(nil)
            })
    }
}

extension Dunlin.RequestBody {
    /// The body of a request that is still arriving: as long as was
    /// announced, or chunked; none if the request has none.
    static func arriving(with request: Request) -> Dunlin.RequestBody {
        let length = request.headers[.contentLength].flatMap { Int($0) }
        let isChunked = request.headers[.transferEncoding] != nil
        guard length != nil || isChunked else { return .none }
        let pieces = request.body.map { Bytes($0.readableBytesView) }
        return .stream(pieces, length: length, contentType: nil)
    }
}
