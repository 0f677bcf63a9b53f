/// Decides whether a request that could not be sent waits for a network, and when it is sent again.
///
/// Rules:
/// 1. A request waits only if it failed before anything was sent, and because there may be no network. One that a host
///    refused or did not let in has a network.
/// 2. Where the kernel itself said that there is no route, or none that is allowed, the request waits, and is sent at
///    once should there be a route by now. Where nobody answered, neither name server nor host, it waits if there is no
///    route, and fails if there is one.
/// 3. After each change of the network the machine looks again, and sends if there is a route. A request that rules
///    about interfaces refused is sent after each change, for only an attempt can tell.
/// 4. A network that has just come may know no names yet, and a new route may not be ready: where there was none a
///    moment ago, the request is sent again a few times, a second apart.
/// 5. The machine reads no clock and asks nobody.
package struct ConnectivityMachine {
    package enum Failure: Equatable {
        /// The kernel said that there is no route.
        case noWay
        /// There is no route that the rules allow.
        case refused
        /// Nobody answered.
        case silence
        /// The reason is not a missing network.
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
    /// Whether it was seen that there was no network.
    private var wasWithout = false
    /// How often the request was sent since something changed.
    private var attempts = 0
    private var hasChanged = false

    package init() {}

    /// The request could not be sent.
    package mutating func failed(_ failure: Failure) -> Action {
        self.failure = failure
        if failure == .noWay { wasWithout = true }
        hasChanged = false
        return failure == .other ? .fail : .look
    }

    /// Something changed since the last look.
    package mutating func changed() -> Action {
        hasChanged = true
        attempts = 0
        if failure == .refused { return go() }
        return .look
    }

    /// Whether there is a route to the host, as far as is known.
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
