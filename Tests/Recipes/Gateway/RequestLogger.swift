import HTTPTypes
import Hummingbird
import Logging

/// Has the calls of a handler logged with what the log says of its request,
/// and sends them on with the id that the request came with.
struct RequestLogger<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.logger[metadataKey: "gateway.path"] = "\(request.uri.path)"
        let id = request.headers.first {
            $0.name.canonicalName == "x-request-id"
        }
        if let id {
            context.logger[metadataKey: "request.id"] = "\(id.value)"
        }
        return try await withLogger(context.logger) { _ in
            try await next(request, context)
        }
    }
}
