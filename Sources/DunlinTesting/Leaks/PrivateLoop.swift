public import Dunlin
internal import DunlinReactor

/// A loop of its own for the sessions of one test, so that what they leave open can be counted while other tests run
/// beside it.
///
/// ```swift
/// let loop = try PrivateLoop()
/// do {
///     var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
///     configuration.use(loop)
///     …
/// }
/// try await loop.verifyNothingLeft()
/// ```
///
/// Its thread ends when the last reference goes, a session's included, and everything on it has been closed.
public final class PrivateLoop: Sendable {
    let reactors: [Reactor]
    private let changes = LoopbackServer.Broadcast()

    /// Starts the loop. Throws the system's error when there is no thread or descriptor left for it.
    public convenience init() throws {
        try self.init(.monotonic, count: ReactorGroup.loopsOfTestRun ?? 1)
    }

    /// Starts one loop, whatever the test run says, for a test that counts what is on each.
    package static func single(clock: ManualClock? = nil) throws -> PrivateLoop {
        let loop = try PrivateLoop(clock.map { .manual($0.time) } ?? .monotonic, count: 1)
        for reactor in loop.reactors { clock?.adopt(reactor) }
        return loop
    }

    /// Starts a loop whose timeouts fire when `clock` is moved.
    public convenience init(clock: ManualClock) throws {
        try self.init(.manual(clock.time), count: ReactorGroup.loopsOfTestRun ?? 1)
        for reactor in reactors { clock.adopt(reactor) }
    }

    private init(_ time: TimeSource, count: Int) throws {
        var reactors: [Reactor] = []
        do {
            for _ in 0..<count {
                let ledger = Ledger { [changes] in changes.announce() }
                reactors.append(try Reactor(name: "dunlin-private", time: time, ledger: ledger))
            }
        } catch {
            for reactor in reactors { reactor.retire() }
            throw error
        }
        self.reactors = reactors
    }

    deinit { for reactor in reactors { reactor.retire() } }

    /// Sockets registered with the loop, idle ones included.
    public var openChannels: Int { reactors.reduce(0) { $0 + $1.ledger.openChannels } }
    /// Deadlines that do not belong to a socket.
    public var openTimers: Int { reactors.reduce(0) { $0 + $1.ledger.openTimers } }

    /// Whether there is nothing to do on it just now.
    package var isResting: Bool { reactors.allSatisfy(\.isResting) }

    /// Returns once nothing is open on the loop any more. Throws `Leak` when that is not so within `limit`.
    ///
    /// A session that still exists is no leak but keeps idle connections open: let go of it first.
    public func verifyNothingLeft(within limit: Duration = .patience) async throws {
        do {
            try await changes.first(within: limit, { "everything on the loop to close" }) { [self] in
                openChannels == 0 && openTimers == 0 ? () : nil
            }
        } catch is LoopbackServer.WaitTimedOut {
            throw Leak(channels: openChannels, timers: openTimers)
        }
    }

    /// What is still open that should not be.
    public struct Leak: Error, Hashable, CustomStringConvertible {
        public let channels: Int
        public let timers: Int

        public var description: String { "still open on the test's loop: channels \(channels), timers \(timers)" }
    }
}

extension HTTPSession.Configuration {
    /// Sessions with this configuration run on `loop`, taking turns with `more`, and keep them.
    public mutating func use(_ loop: PrivateLoop, _ more: PrivateLoop...) {
        let all = [loop] + more
        loops = all.flatMap(\.reactors)
        loopOwner = all
    }

    /// Sessions with this configuration live by `clock`, on a loop of their own: every timeout fires when it is moved.
    /// Throws the system's error when there is no thread or descriptor left for the loop.
    public mutating func use(_ clock: ManualClock) throws {
        use(try PrivateLoop(clock: clock))
    }
}
