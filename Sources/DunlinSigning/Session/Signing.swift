internal import Dunlin

/// Keeps the origin that a call is for, for the exchanges within the call.
struct OriginOfCall: HTTPSession.Interceptor {
    @TaskLocal static var present: HTTP.Origin?

    func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
        try await Self.$present.withValue(request.head.origin) { try await next(request) }
    }
}

/// Signs each exchange with the call's own origin, and with others that it may be redirected to.
struct Signing: HTTPSession.Interceptor {
    let signer: AWSSigner
    let isSigned: @Sendable (HTTP.Origin) -> Bool

    func intercept(_ request: TransportRequest, next: HTTPSession.Next) async throws -> TransportResponse {
        let origin = request.head.origin
        guard OriginOfCall.present?.isSame(as: origin) == true || isSigned(origin) else {
            return try await next(request)
        }
        return try await next(try await signer.signed(request))
    }
}
