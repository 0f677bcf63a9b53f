import Dunlin
import Synchronization

/// A session of the storm, which is shut down while others still use it.
final class SocketLife: Sendable {
    let session: HTTPSession
    private let ending = Atomic(false)

    init(_ session: HTTPSession) {
        self.session = session
    }

    var isEnding: Bool { ending.load(ordering: .acquiring) }

    /// Returns when nothing of it runs any more.
    func end(grace: Duration, _ tally: Tally) async {
        ending.store(true, ordering: .releasing)
        await session.shutdown(grace: grace)
        let left = await session.tasks.all
        if !left.isEmpty { tally.violation("still in the registry: \(left)") }
        if session.connections.open + session.connections.waiting > 0 {
            tally.violation("in the pool: \(session.connections)")
        }
    }
}

/// What may have disturbed somebody who was at work meanwhile.
struct Disturbance: Sendable {
    private let life: SocketLife
    private let server: SocketServer
    private let generation: Int

    init(_ life: SocketLife, _ server: SocketServer) {
        (self.life, self.server, generation) = (life, server, server.generation)
    }

    /// The session was shut down.
    var isOver: Bool { life.isEnding }
    /// The server went away.
    var isAlone: Bool { server.generation != generation }
}
