package import DunlinReactor

/// What tells when something may have changed, so that `eventually` looks again.
///
/// A private loop tells at the end of each of its turns and when something is opened or closed on it, a clock when it
/// is moved, when somebody begins to wait on it and with the turns of the loops that live by it, a server and a
/// transport when a request arrives and goes on, a network when it changes and when it is asked. A type of a test's own
/// may tell too.
public protocol Followed: Sendable {
    /// Calls `follower` after every change, on whatever thread and under no lock, until the closure that this returns
    /// is called.
    func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension PrivateLoop: Followed {
    public func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let ends = reactors.map { $0.follow(follower) }
        return { for end in ends { end() } }
    }
}

extension ManualClock: Followed {
    public func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        changes.follow(follower)
    }
}

extension LoopbackServer: Followed {
    public func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        core.ledger.broadcast.follow(follower)
    }
}

extension MockTransport: Followed {
    public func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        changes.follow(follower)
    }
}

extension ManualNetwork: Followed {
    public func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        asked.follow(follower)
    }
}

/// The turns of a loop that a test below the session made for itself. Not one of the process's own: `eventually` waits
/// there, and would be told of itself.
package struct Turns: Followed {
    private let reactor: Reactor

    package init(of reactor: Reactor) {
        self.reactor = reactor
    }

    package func follow(_ follower: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        reactor.follow(follower)
    }
}
