import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// Compressed messages (RFC 7692), with all that can be agreed on, and a server that others wrote.
@Suite(.needsPythonWebSockets, .leakChecked, .timeLimit(.minutes(10)), .serialized)
struct `Compression with Python's websockets` {
    /// What the server wants, what we ask for, and what it says that is agreed on.
    struct Row: Sendable, CustomTestStringConvertible {
        var wanted: [String]?
        var keepsContext = true
        var level = 6
        var agreed: [String]

        var testDescription: String {
            let wishes = wanted.map { $0.isEmpty ? "nothing" : $0.joined(separator: ", ") } ?? "what it wants by itself"
            return keepsContext ? wishes : "\(wishes); we want no contexts"
        }
    }

    private static let noServer = "server_no_context_takeover"
    private static let noClient = "client_no_context_takeover"

    private static func windows(server: Int, client: Int) -> [String] {
        ["server_max_window_bits=\(server)", "client_max_window_bits=\(client)"]
    }

    private static let contexts = [
        Row(wanted: nil, agreed: windows(server: 12, client: 12)),
        Row(wanted: [], level: 1, agreed: []),
        Row(wanted: [noServer], agreed: [noServer]),
        Row(wanted: [noClient], agreed: [noClient]),
        Row(wanted: [noServer, noClient], level: 9, agreed: [noServer, noClient]),
        Row(wanted: [], keepsContext: false, agreed: [noServer, noClient]),
        Row(wanted: [noServer] + windows(server: 9, client: 9), agreed: [noServer] + windows(server: 9, client: 9)),
        Row(
            wanted: windows(server: 9, client: 9), keepsContext: false,
            agreed: [noServer, noClient] + windows(server: 9, client: 9)),
        Row(wanted: ["server_max_window_bits=10"], agreed: ["server_max_window_bits=10"]),
        Row(wanted: ["client_max_window_bits=10"], agreed: ["client_max_window_bits=10"]),
    ]

    private static let sizes = (9...15).map { bits in
        Row(
            wanted: windows(server: bits, client: 24 - bits), level: bits - 6,
            agreed: windows(server: bits, client: 24 - bits))
    }

    @Test(arguments: contexts + sizes)
    func `messages of all lengths come back, whatever is agreed on`(row: Row) async throws {
        try await PythonWebSockets.with(deflate: row.wanted) { url in
            var configuration = HTTPSession.Configuration()
            configuration.useLoopOfTest()
            let session = try HTTPSession(configuration)
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = .init(level: row.level, keepsContext: row.keepsContext)
            for (path, form) in [("echo", EchoedMessages.Form.whole), ("cut", .pieces)] {
                try await session.withWebSocket(.url("\(url)/\(path)"), settings: settings) { socket in
                    let agreed = (["permessage-deflate"] + row.agreed).joined(separator: "; ")
                    #expect(socket.fields["Sec-WebSocket-Extensions"] == agreed)
                    try await EchoedMessages.exchange(over: socket, form)
                }
            }
            await session.shutdown()
        }
    }

    @Test func `a window that we cannot use is refused`() async throws {
        try await PythonWebSockets.with(deflate: ["client_max_window_bits=8"]) { url in
            var configuration = HTTPSession.Configuration()
            configuration.useLoopOfTest()
            let session = try HTTPSession(configuration)
            var settings = HTTPSession.WebSocketSettings()
            settings.compression = .init()
            let error = try await NetworkError.thrown {
                _ = try await session.webSocket(.url("\(url)/echo"), settings: settings)
            }
            #expect(error.code == .invalidResponse, "\(error)")
            await session.shutdown()
        }
    }
}
