public import Dunlin
internal import DunlinReactor

/// A separate loop for the sessions of one test, so that what they leave open can be counted while other tests run.
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
/// Its thread ends when the last reference, including those of sessions, is released and everything on the loop is
/// closed.
public final class PrivateLoop: Sendable {
    let reactors: [Reactor]
    private let changes = LoopbackServer.Broadcast()

    /// Starts the loop. Throws the system's error if there is no thread or descriptor left.
    public convenience init() throws {
        try self.init(.monotonic, count: ReactorGroup.loopsOfTestRun ?? 1)
    }

    /// Starts a single loop, whatever the test run's settings, for a test that counts what is on each loop.
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

    /// The number of sockets registered with the loop, including idle ones.
    public var openChannels: Int { reactors.reduce(0) { $0 + $1.ledger.openChannels } }
    /// The number of timers that do not belong to a socket.
    public var openTimers: Int { reactors.reduce(0) { $0 + $1.ledger.openTimers } }

    /// Whether the loop has nothing to do at present.
    package var isResting: Bool { reactors.allSatisfy(\.isResting) }

    /// Returns when nothing is open on the loop. Throws `Leak` if something still is after `limit`.
    ///
    /// An existing session keeps idle connections open, so release it first.
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
    /// Makes sessions with this configuration run on `loop`, in turn with `more`, and retain them.
    public mutating func use(_ loop: PrivateLoop, _ more: PrivateLoop...) {
        let all = [loop] + more
        loops = all.flatMap(\.reactors)
        loopOwner = all
    }

    /// Makes sessions with this configuration use `clock`, on a loop of their own: every timeout fires when the clock
    /// is moved. Throws the system's error if there is no thread or descriptor left for the loop.
    public mutating func use(_ clock: ManualClock) throws {
        use(try PrivateLoop(clock: clock))
    }
}
