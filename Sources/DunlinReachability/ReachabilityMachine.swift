/// Keeps what is known of the route to one target, and decides what to do to know more.
///
/// Rules:
/// 1. After each change there is a new look, whatever the last one found; what that still finds is outdated.
/// 2. What a look finds is reported at once, with one exception: if there is a probe, a route is reported when the
///    probe has answered. That there is none is reported without asking it.
/// 3. A probe is repeated at its interval as long as there is a route.
/// 4. A name without an answer makes its host unreachable. It is looked up again after 5 seconds, then after twice as
///    long each time, up to 5 minutes, and after any change. This, the probe and the fallback for systems without
///    netlink are all the timers there are.
/// 5. The machine reads no clock and asks nobody.
struct ReachabilityMachine {
    enum Event: Equatable {
        case changed
        case found(Reachability.Path, look: UInt64)
        /// The name was not resolved. There may be a route to the name server all the same.
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

    /// Nil without a probe.
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
