import Dunlin
import DunlinService
import Hummingbird
import Logging

struct User: Codable, ResponseEncodable {
    var id: Int
    var name: String
}

/// The gateway: users as values of its own, files passed on as they come.
func makeApplication(
    _ client: HTTPSession, at address: BindAddress, logger: Logger
) -> some ApplicationProtocol {
    let router = Router()
    router.addMiddleware {
        TracingMiddleware()
        RequestLogger()
        BackendErrors()
    }
    router.get("users/:id") { _, context in
        let id = try context.parameters.require("id")
        return try await client.get("users/\(id)", as: User.self)
    }
    let proxy = Proxy(client: client)
    for method in [HTTPRequest.Method.get, .head, .put, .post, .delete] {
        router.on("files/**", method: method) { request, _ in
            try await proxy.respond(to: request)
        }
    }
    return Application(
        router: router, configuration: .init(address: address),
        services: [client], logger: logger)
}
