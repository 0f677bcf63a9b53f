/// What comes after each hop of a request: send it (again), deliver what came, or fail.
///
/// Rules:
/// 1. A request is sent again by itself only when a reused connection turned out to be closed before a byte of the
///    response came: the server was hanging up as we wrote. Once, and only if the body can be said again and either
///    nothing was sent or the method is idempotent (RFC 9110 §9.2.2).
/// 2. Redirects, authentication, retries by policy and the cache are further reasons for `send` and `deliver`; they
///    belong here and nowhere else.
struct HopMachine {
    enum Action: Equatable {
        case send
        case deliver
        case fail
    }

    private let isReplayable: Bool
    private var replays = 0

    init(isReplayable: Bool) {
        self.isReplayable = isReplayable
    }

    func received(_ status: Status) -> Action {
        .deliver
    }

    mutating func failed(_ error: any Error) -> Action {
        guard let error = error as? NetworkError, error.code == .connectionClosed, error.connectionWasReused,
            error.isSafeToRetry, isReplayable, replays == 0
        else { return .fail }
        replays += 1
        return .send
    }
}
