import Dunlin
import DunlinTesting

/// Many WebSockets and streams of events of one session at once, through everything that can happen to them.
struct SocketStorm: Sendable {
    private static let concurrency = 64
    /// A session, and a server, last for so many.
    private static let (sessionLifetime, serverLifetime) = (400, 900)

    let count: Int
    /// With them everything goes over TLS.
    let masks: Masks?
    let tally: Tally
    let watchdog: Watchdog

    func run() async throws {
        let loop = try PrivateLoop()
        let server = try SocketServer(tally, masks)
        try await rage(on: loop, server)
        // The last session has been released, and its pool's timer with it.
        do { try await loop.verifyNothingLeft(within: .seconds(60)) } catch { tally.violation("\(error)") }
    }

    private func rage(on loop: PrivateLoop, _ server: SocketServer) async throws {
        var life = try begin(on: loop)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= Self.concurrency { try await group.next() }
                if number % Self.serverLifetime == Self.serverLifetime - 1 {
                    group.addTask { try server.replaceServer() }
                }
                if number % Self.sessionLifetime == Self.sessionLifetime - 1 {
                    let old = life
                    life = try begin(on: loop)
                    group.addTask { await old.end(grace: .milliseconds(number % 3 * 10), tally) }
                }
                add(number, life, server, to: &group)
            }
            try await group.waitForAll()
        }
        let left = await life.session.tasks.all
        if !left.isEmpty { tally.violation("still in the registry: \(left)") }
        server.stop()
        await life.end(grace: .zero, tally)
    }

    private func add(
        _ number: Int, _ life: SocketLife, _ server: SocketServer, to group: inout ThrowingTaskGroup<Void, any Error>
    ) {
        if number % 4 == 3 {
            let stream = EventConversation(number: number, seed: tally.seed, life: life, tally: tally)
            group.addTask { await stream.go(server) }
        } else {
            let plan = PlannedSocket(number, seed: tally.seed, isSecure: masks != nil)
            let conversation = Conversation(plan, life, tally)
            group.addTask { await conversation.go(server) }
        }
    }

    private func begin(on loop: PrivateLoop) throws -> SocketLife {
        var configuration = RequestStorm.configuration(on: loop, masks)
        configuration.connections.perOrigin = Self.concurrency
        let session = try HTTPSession(configuration)
        watchdog.watch(session)
        return SocketLife(session)
    }
}
