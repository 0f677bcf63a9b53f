import Dunlin
import DunlinTesting
import DunlinTypes
import LedgerRows
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The Autobahn cases for WebSocket clients` {
    /// How many cases each group of the published suite has.
    static let counts = [
        1: 16, 2: 11, 3: 7, 4: 10, 5: 20, 6: 145, 7: 37, 9: 54, 10: 1, 12: 90, 13: 126,
    ]

    @Test func `the table has each of the 517 published cases once`() {
        let all = AutobahnCase.all
        #expect(Dictionary(grouping: all, by: \.group).mapValues(\.count) == Self.counts)
        #expect(Set(all.map(\.number)).count == 517)
    }

    @Test(.rules("6455-10.7-1"), arguments: counts.keys.sorted())
    func `a client that sends back each message passes each case`(group: Int) async throws {
        try await Stage.with { (stage: Stage) async throws in
            for played in AutobahnCase.all where played.group == group {
                if let complaint = try await Self.play(played, on: stage) {
                    Issue.record("case \(played.number): \(complaint)")
                }
            }
        }
    }

    /// Plays a case. Returns what was wrong; nil if nothing was.
    private static func play(_ played: AutobahnCase, on stage: Stage) async throws -> String? {
        let servers = Mutex<[AutobahnServer]>([])
        stage.server.respond { request in
            do {
                let server = try AutobahnServer(played, answering: request)
                servers.withLock { $0.append(server) }
                var reply = LoopbackServer.Reply.webSocket(answering: request, fields: server.fields)
                reply.steps.insert(contentsOf: server.begin() + [.answerFrames(server.steps(after:))], at: 1)
                return reply
            } catch {
                return .response(.internalServerError)
            }
        }
        var settings = HTTPSession.WebSocketSettings()
        if let compression = played.compression {
            settings.compression = .init(keepsContext: compression.keepsContext)
        }
        let socket = try await stage.session.webSocket("chat", settings: settings)
        let failure = await echo(socket, pieces: played.echoesPieces)
        try await stage.server.wait { $0.open == 0 }
        guard let server = servers.withLock({ $0.first }) else { return "no server" }
        if socket.isCompressed != (played.compression != nil) { return "compressed: \(socket.isCompressed)" }
        return try server.complaint() ?? complaint(about: failure, played.end)
    }

    /// Sends back what arrives. Returns why it ends; nil if the connection was closed.
    private static func echo(_ socket: HTTPSession.WebSocket, pieces: Bool) async -> (any Error)? {
        do {
            if pieces {
                for try await piece in socket.pieces { await answer(piece.content, socket) }
            } else {
                for try await message in socket.messages { await answer(message, socket) }
            }
            return nil
        } catch {
            return error
        }
    }

    private static func answer(_ message: HTTPSession.WebSocket.Message, _ socket: HTTPSession.WebSocket) async {
        do {
            try await socket.send(message)
        } catch {
            // Whoever reads is told why the connection has ended.
        }
    }

    private static func complaint(about failure: (any Error)?, _ end: AutobahnCase.End) -> String? {
        if case .refused = end {
            let isRefused = (failure as? NetworkError)?.code == .webSocketFailed
            return isRefused ? nil : "the reader got \(String(describing: failure))"
        }
        return failure.map { "the reader got \($0)" }
    }
}
