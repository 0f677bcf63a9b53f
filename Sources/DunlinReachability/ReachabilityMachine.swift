/// Holds what is known of the route to one target, and decides what to find out next.
///
/// Rules:
/// 1. Each change starts a new look, and the results of the earlier one no longer count.
/// 2. A look's result is reported at once, with one exception: if there is a probe, a route is reported when the probe
///    has answered. A missing route is reported without asking the probe.
/// 3. A probe is repeated at its interval as long as there is a route.
/// 4. A name without an answer makes its host unreachable. It is looked up again after 5 seconds, then after twice as
///    long each time, up to 5 minutes, and after any change. There are no timers but this, the probe's, and the
///    fallback's for systems without netlink.
/// 5. The machine reads no clock and makes no queries.
struct ReachabilityMachine {
    enum Event: Equatable {
        case changed
        case found(Reachability.Path, look: UInt64)
        /// The name was not resolved. There may still be a route to the name server.
        case nameless(look: UInt64)
        case probed(Bool, look: UInt64)
        /// A pause is over.
        case rested(look: UInt64)
    }

    enum Action: Equatable {
        case look(UInt64)
        case probe(UInt64)
        case rest(Duration, UInt64)
        case tell(Reachability.Path)
    }

    static let firstInterval: Duration = .seconds(5)
    static let longestInterval: Duration = .seconds(300)

    /// The probe's interval; nil without a probe.
    private let probeInterval: Duration?
    private var look: UInt64 = 0
    private var path = Reachability.Path.unknown
    private var interval = firstInterval
    private var isNameless = false

    init(probeInterval: Duration? = nil) {
        self.probeInterval = probeInterval
    }

    mutating func take(_ event: Event) -> [Action] {
        switch event {
        case .changed:
            interval = Self.firstInterval
            return lookAgain()
        case .found(let path, look):
            self.path = path
            isNameless = false
            interval = Self.firstInterval
            return path.status.isReachable && probeInterval != nil ? [.probe(look)] : [.tell(path)]
        case .nameless(look):
            isNameless = true
            defer { interval = min(interval * 2, Self.longestInterval) }
            return [.tell(.none), .rest(interval, look)]
        case .probed(let isThere, look):
            guard let probeInterval else { return [] }
            return [.tell(isThere ? path : .none), .rest(probeInterval, look)]
        case .rested(look): return isNameless ? lookAgain() : [.probe(look)]
        case .found, .nameless, .probed, .rested: return []
        }
    }

    private mutating func lookAgain() -> [Action] {
        look += 1
        return [.look(look)]
    }
}
