import Dunlin
import DunlinTesting

/// Real exchanges with a server on a socket.
enum Wire {
    static func session(_ server: LoopbackServer, base: String = "") throws -> HTTPSession {
        try HTTPSession(baseURL: server.baseURL + base)
    }

    /// The response that these bytes are.
    static func response(_ bytes: Bytes) async throws -> ResponseHead {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(LoopbackServer.Reply([.send(bytes), .close]))
        let options = HTTPSession.Options(validatesResponse: false)
        return try await session(server).request("/", options: options).head
    }
}
