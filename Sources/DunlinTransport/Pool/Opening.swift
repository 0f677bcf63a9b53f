internal import DunlinReactor
internal import DunlinTypes

/// A connection that is being opened. It reports its phase to the pool and the request.
struct Opening {
    private let pool: Pool
    private let origin: HTTP.Origin
    private let cancellation: Cancellation
    private var phase: OpeningPhase?

    init(_ context: ExchangeContext, in pool: Pool) {
        self.pool = pool
        origin = context.poolKey
        cancellation = context.cancellation
    }

    /// Where the connection will announce that something came while it was idle.
    var announcements: AsyncStream<UInt64>.Continuation { pool.announcements }

    mutating func enter(_ next: OpeningPhase) {
        cancellation.phase = next.phase
        guard next != phase else { return }
        pool.enter(next, after: phase, origin)
        phase = next
    }

    /// Ends the opening. One that has not begun is not counted.
    mutating func end(_ end: OpeningEnd) {
        guard let last = phase.take() else { return }
        pool.endOpening(origin, in: last, end)
    }
}

extension OpeningPhase {
    fileprivate var phase: HTTP.Phase {
        switch self {
        case .resolve: .resolve
        case .connect: .connect
        case .proxyTLS: .proxyTLS
        case .tunnel: .tunnel
        case .tls: .tls
        }
    }
}
