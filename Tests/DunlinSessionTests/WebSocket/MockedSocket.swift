import Dunlin
import DunlinTesting
import Mocking

/// A session whose every request opens a WebSocket, and the other side of it. It serves one connection.
struct MockedSocket {
    let peer = MockWebSocket()
    let mocked: Mocked

    init(
        accepting fields: Fields = Fields(), clock: ManualClock? = nil,
        receives: @escaping @Sendable () async throws -> Void = {}
    ) throws {
        mocked = try Mocked { configuration in
            if let clock { try configuration.use(clock) }
        }
        mocked.transport.otherwise { [peer] in peer.accept($0, fields: fields) { _ in try await receives() } }
    }

    var session: HTTPSession { mocked.session }

    func open(
        _ settings: HTTPSession.WebSocketSettings = .init(), subprotocols: [String] = []
    ) async throws -> HTTPSession.WebSocket {
        try await session.webSocket("chat", subprotocols: subprotocols, settings: settings)
    }
}

extension HTTPSession.WebSocket {
    /// All messages up to the end.
    func all() async throws -> [Message] {
        var all: [Message] = []
        for try await message in messages { all.append(message) }
        return all
    }

    /// How many bytes have been read from the connection.
    var received: Int { metrics.hops.last?.bodyBytes ?? 0 }
}
