/// Whether a request that could not be sent waits for a network, and when it goes.
///
/// Rules:
/// 1. Only what failed before anything was sent, because there may be no network, waits. Whoever was refused by a host,
///    or not let in, has a network.
/// 2. Where the kernel itself said that there is no way, or none that is allowed, there is nothing to doubt: it waits,
///    and goes at once should there be a way by now. Where nobody answered, neither name server nor host, it waits if
///    there is no way, and fails if there is one.
/// 3. Each change is a reason to look again, and to go if there is a way. What rules about interfaces refused goes
///    after each change, for only an attempt can tell.
/// 4. A network that has just come may know no names yet, and a way that is there may not be ready: where there was
///    none a moment ago, it is tried again a few times, a second apart.
/// 5. Never reads a clock, asks nobody.
struct ConnectivityMachine {
    enum Failure: Equatable {
        /// The kernel said so.
        case noWay
        /// There is none that the rules allow.
        case refused
        /// Nobody answered.
        case silence
        /// Not for want of a network.
        case other
    }

    enum Action: Equatable {
        case look
        case wait
        /// Go on after a second.
        case rest
        case send
        case fail
    }

    private static let attemptsAtRest = 5

    private var failure = Failure.other
    /// It has been seen that there was no network.
    private var wasWithout = false
    /// Attempts since something changed.
    private var attempts = 0
    private var hasChanged = false

    /// The request could not be sent.
    mutating func failed(_ failure: Failure) -> Action {
        self.failure = failure
        if failure == .noWay { wasWithout = true }
        hasChanged = false
        return failure == .other ? .fail : .look
    }

    /// Something changed since the last look.
    mutating func changed() -> Action {
        hasChanged = true
        attempts = 0
        if failure == .refused { return go() }
        return .look
    }

    /// What is known of the way there.
    mutating func looked(_ status: Reachability.Status) -> Action {
        switch (status, failure) {
        case (_, .other): return .fail
        case (.notReachable, _): return wait()
        case _ where hasChanged: return go()
        case (_, .refused): return wait()
        case (_, .noWay): return attempts == 0 ? go() : attempts < Self.attemptsAtRest ? rest() : wait()
        case (_, .silence): return wasWithout && attempts < Self.attemptsAtRest ? rest() : .fail
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

extension ConnectivityMachine.Failure {
    init(_ error: NetworkError) {
        guard !error.requestMayHaveBeenSent, error.phase == .resolve || error.phase == .connect else {
            self = .other
            return
        }
        switch error.code {
        case .nameNotResolved, .timedOut: self = .silence
        case .interfaceRefused: self = .refused
        case .connectionFailed: self = (error.underlying as? NetworkError.ConnectionFailures)?.meaning ?? .other
        default: self = .other
        }
    }
}
