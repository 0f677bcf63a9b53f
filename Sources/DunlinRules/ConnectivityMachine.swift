/// Decides whether a request that could not be sent waits for a network, and when it is sent again.
///
/// Rules:
/// 1. A request waits only if it failed before anything was sent, perhaps for lack of a network. If a host refused it,
///    there is a network.
/// 2. If the kernel reported that there is no route, or none that is allowed, the request waits, and is sent at once if
///    there is a route by now. If neither a name server nor a host answered, it waits if there is no route, and fails
///    if there is one.
/// 3. After each change of the network the machine looks again, and sends if there is a route. A request that the
///    interface rules refused is sent after each change, since only an attempt can tell.
/// 4. A new network may not resolve names yet, and a new route may not be ready. So after a time without a network, the
///    request is sent again a few times, a second apart.
/// 5. The machine reads no clock and makes no queries.
package struct ConnectivityMachine {
    package enum Failure: Equatable {
        /// The kernel reported that there is no route.
        case noWay
        /// There is no route that the rules allow.
        case refused
        /// Nobody answered.
        case silence
        /// The failure is not for lack of a network.
        case other
    }

    package enum Action: Equatable {
        case look
        case wait
        /// Wait a second, then send again.
        case rest
        case send
        case fail
    }

    private static let attemptsAtRest = 5

    private var failure = Failure.other
    /// Whether a lack of network was observed.
    private var wasWithout = false
    /// How often the request was sent since the last change.
    private var attempts = 0
    private var hasChanged = false

    package init() {}

    /// The action after a failure to send.
    package mutating func failed(_ failure: Failure) -> Action {
        self.failure = failure
        if failure == .noWay { wasWithout = true }
        hasChanged = false
        return failure == .other ? .fail : .look
    }

    /// The action after a change.
    package mutating func changed() -> Action {
        hasChanged = true
        attempts = 0
        if failure == .refused { return go() }
        return .look
    }

    /// The action after looking for a route to the host.
    package mutating func looked(hasRoute: Bool) -> Action {
        switch failure {
        case .other: return .fail
        case _ where !hasRoute: return wait()
        case _ where hasChanged: return go()
        case .refused: return wait()
        case .noWay: return attempts == 0 ? go() : attempts < Self.attemptsAtRest ? rest() : wait()
        case .silence: return wasWithout && attempts < Self.attemptsAtRest ? rest() : .fail
        }
    }

    private mutating func go() -> Action {
        attempts += 1
        return .send
    }

    private mutating func rest() -> Action {
        attempts += 1
        return .rest
    }

    private mutating func wait() -> Action {
        wasWithout = true
        return .wait
    }
}
