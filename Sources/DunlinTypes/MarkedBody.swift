/// A body whose trailers are marked as sensitive if a session calls their names secret.
final class MarkedBody: PassedBody, TransportResponse.RecyclingStream {
    let stream: any TransportResponse.BodyStream
    private let secret: HTTP.SecretFields

    private init(_ stream: any TransportResponse.BodyStream, _ secret: HTTP.SecretFields) {
        (self.stream, self.secret) = (stream, secret)
    }

    /// A body with its trailers marked; the same body if it, or one that it reads from, is marked already.
    static func of(_ body: TransportResponse.Body, _ secret: HTTP.SecretFields) -> TransportResponse.Body {
        guard case .stream(let stream) = body else { return body }
        var inner: (any TransportResponse.BodyStream)? = stream
        while let next = inner {
            if (next as? MarkedBody)?.secret == secret { return body }
            inner = (next as? any WrappedBody)?.source
        }
        return .stream(MarkedBody(stream, secret))
    }

    var trailers: Fields {
        var trailers = stream.trailers
        trailers.mark(secret)
        return trailers
    }

    func next() async throws -> Bytes? { try await stream.next() }

    func next(reusing spare: inout [UInt8]?) async throws -> Bytes? {
        guard let stream = stream as? any TransportResponse.RecyclingStream else { return try await stream.next() }
        return try await stream.next(reusing: &spare)
    }

    func collect(_ admit: (Int) throws -> Void) async throws -> Bytes { try await stream.readAll(admit) }
}
