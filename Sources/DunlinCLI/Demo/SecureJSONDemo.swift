import Dunlin
import DunlinDisplay
import DunlinTesting

/// JSON over TLS, decoded into a value, from a server that takes its time, and where that time went.
struct SecureJSONDemo: DemoPart {
    let title = "JSON over TLS"
    let code = #"client.get("users/42", as: .json(User.self))"#

    private struct User: Decodable {
        let id: Int
        let name: String
    }

    func run(on page: DemoPage) async throws {
        let authority = try DemoAuthority()
        defer { authority.server.stop() }
        authority.server.onConnect(.handshake(.drip(size: 256, every: .milliseconds(12))))
        authority.server.route(
            .get, "/users/42",
            .response(fields: ["Content-Type": "application/json"], body: #"{"id": 42, "name": "Ada Lovelace"}"#)
                .dripping(10, every: .milliseconds(12)).delayed(.milliseconds(60)))
        try await withSession(authority.configuration) { client in
            let response = try await client.get("users/42", as: .json(User.self))
            var text = "\(response.status): user \(response.value.id) is \(response.value.name)"
            if let security = response.metrics.hops.last?.security {
                let path = security.verifiedPath.map(\.details.subject).joined(separator: " signed by ")
                text += "; \(security.version), \(path)"
            }
            page.say(text)
            page.draw(Waterfall(response.metrics))
        }
    }
}
