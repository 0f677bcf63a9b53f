package import DunlinReactor

/// Something that reports possible changes, so that `eventually` looks again.
///
/// A private loop reports the end of each turn, and when something is opened or closed on it; a clock, when it is
/// moved, when somebody begins to wait on it, and the turns of loops that use it; a server and a transport, when a
/// request arrives or progresses; a network, when it changes or is asked. A test's own types may conform too.
public protocol Followed: Sendable {
    /// Calls `observer` after every change, on any thread and under no lock, until the returned closure is called.
    func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

extension PrivateLoop: Followed {
    public func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let ends = reactors.map { $0.observeTurns(observer) }
        return { for end in ends { end() } }
    }
}

extension ManualClock: Followed {
    public func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        changes.follow(observer)
    }
}

extension LoopbackServer: Followed {
    public func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        core.ledger.broadcast.follow(observer)
    }
}

extension MockTransport: Followed {
    public func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        changes.follow(observer)
    }
}

extension ManualNetwork: Followed {
    public func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        asked.follow(observer)
    }
}

/// The turns of a loop that a test below the session created. It must not be one of the process's own: `eventually`
/// waits there and would observe itself.
package struct Turns: Followed {
    private let reactor: Reactor

    package init(of reactor: Reactor) {
        self.reactor = reactor
    }

    package func follow(_ observer: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        reactor.observeTurns(observer)
    }
}
