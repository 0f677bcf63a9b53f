import Dunlin
import Logging
import Vapor

struct User: Content {
    var id: Int
    var name: String
}

struct EndOfClient: LifecycleHandler {
    let client: HTTPSession

    func shutdownAsync(_ application: Application) async {
        await client.shutdown(grace: .seconds(10))
    }
}

func configure(_ app: Application, client: HTTPSession) {
    app.lifecycle.use(EndOfClient(client: client))
    app.clients.use { app in
        SessionClient(
            session: client, eventLoop: app.eventLoopGroup.any())
    }
    app.get("users", ":id") { request in
        let id = try request.parameters.require("id")
        return try await withLogger(request.logger) { _ in
            try await client.get("users/\(id)", as: User.self)
        }
    }
}
