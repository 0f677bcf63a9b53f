/// How long each phase may take. Finite by default; `nil` takes a limit away.
///
/// Kept as nanoseconds, so that arming a deadline is one addition.
public struct Timeouts: Sendable, Hashable {
    /// No limit.
    static let unlimited = Int64.max

    private var limits: (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64)

    public init(
        pool: Duration? = .seconds(10), resolve: Duration? = .seconds(10), connect: Duration? = .seconds(10),
        secure: Duration? = .seconds(10), send: Duration? = .seconds(30), firstByte: Duration? = .seconds(60),
        idle: Duration? = .seconds(30), total: Duration? = .seconds(600)
    ) {
        limits = (
            Self.limit(pool), Self.limit(resolve), Self.limit(connect), Self.limit(secure), Self.limit(send),
            Self.limit(firstByte), Self.limit(idle), Self.limit(total)
        )
    }

    /// Waiting for a connection to become free.
    public var pool: Duration? {
        get { self[.pool] }
        set { self[.pool] = newValue }
    }
    public var resolve: Duration? {
        get { self[.resolve] }
        set { self[.resolve] = newValue }
    }
    public var connect: Duration? {
        get { self[.connect] }
        set { self[.connect] = newValue }
    }
    public var secure: Duration? {
        get { self[.secure] }
        set { self[.secure] = newValue }
    }
    /// The longest stall while writing; a slow peer that keeps taking bytes is not timed out.
    public var send: Duration? {
        get { self[.send] }
        set { self[.send] = newValue }
    }
    public var firstByte: Duration? {
        get { self[.firstByte] }
        set { self[.firstByte] = newValue }
    }
    /// The longest silence while a body arrives; a slow peer that keeps sending is not timed out.
    public var idle: Duration? {
        get { self[.idle] }
        set { self[.idle] = newValue }
    }
    /// The whole request: body, later retries and redirects included.
    public var total: Duration? {
        get { self[.total] }
        set { self[.total] = newValue }
    }

    public subscript(_ phase: Phase) -> Duration? {
        get {
            let limit = nanoseconds(for: phase)
            return limit == Self.unlimited ? nil : .nanoseconds(limit)
        }
        set {
            let limit = Self.limit(newValue)
            switch phase {
            case .pool: limits.0 = limit
            case .resolve: limits.1 = limit
            case .connect: limits.2 = limit
            case .secure: limits.3 = limit
            case .send: limits.4 = limit
            case .firstByte: limits.5 = limit
            case .idle: limits.6 = limit
            case .total: limits.7 = limit
            }
        }
    }

    /// The limit of a phase that begins at `start`, as a point in time.
    public func deadline(for phase: Phase, from start: MonotonicTime) -> MonotonicTime {
        start.advanced(by: nanoseconds(for: phase))
    }

    private func nanoseconds(for phase: Phase) -> Int64 {
        switch phase {
        case .pool: limits.0
        case .resolve: limits.1
        case .connect: limits.2
        case .secure: limits.3
        case .send: limits.4
        case .firstByte: limits.5
        case .idle: limits.6
        case .total: limits.7
        }
    }

    private static func limit(_ duration: Duration?) -> Int64 {
        duration.map { max(0, $0.clampedNanoseconds) } ?? unlimited
    }

    public static func == (left: Timeouts, right: Timeouts) -> Bool {
        Phase.allCases.allSatisfy { left.nanoseconds(for: $0) == right.nanoseconds(for: $0) }
    }

    public func hash(into hasher: inout Hasher) {
        for phase in Phase.allCases { hasher.combine(nanoseconds(for: phase)) }
    }
}
