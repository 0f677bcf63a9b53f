import Dunlin
import Hummingbird

/// Says whose fault a failure is: that of the request, or that of the
/// service behind the gateway. The client has logged the error already.
struct BackendErrors<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as NetworkError {
            switch error.code {
            case .invalidRequest: throw HTTPError(.badRequest)
            case .timedOut: throw HTTPError(.gatewayTimeout)
            default: throw HTTPError(.badGateway)
            }
        }
    }
}
