/// The time limits for each phase, for each attempt and for the whole request. All but `queue` and `attempt` are finite
/// by default; `nil` removes a limit.
public struct Timeouts: Sendable, Hashable {
    /// The name of a limit: of each phase, of the wait in the session's queue before them, of an attempt, and of the
    /// whole request.
    /// The phases are those of `HTTP.Phase`; the limit of `receive` is `readIdle`, the longest silence.
    public enum Limit: String, Sendable, Hashable, CaseIterable {
        case pool
        case resolve
        case connect
        case proxyTLS
        case tunnel
        case tls
        case send
        case firstByte
        case readIdle
        case queue
        case attempt
        case total

        /// Creates the limit of a phase.
        public init(_ phase: HTTP.Phase) {
            switch phase {
            case .pool: self = .pool
            case .resolve: self = .resolve
            case .connect: self = .connect
            case .proxyTLS: self = .proxyTLS
            case .tunnel: self = .tunnel
            case .tls: self = .tls
            case .send: self = .send
            case .firstByte: self = .firstByte
            case .receive: self = .readIdle
            }
        }
    }

    /// The limits in whole nanoseconds, so that setting a deadline is one addition; `unlimited` for no limit.
    private struct Limits: Hashable {
        var pool: Int64
        var resolve: Int64
        var connect: Int64
        var proxyTLS: Int64
        var tunnel: Int64
        var tls: Int64
        var send: Int64
        var firstByte: Int64
        var readIdle: Int64
        var queue: Int64
        var attempt: Int64
        var total: Int64
    }

    private static let unlimited = Int64.max
    private var limits: Limits

    public init(
        queue: Duration? = nil, pool: Duration? = .seconds(10), resolve: Duration? = .seconds(10),
        connect: Duration? = .seconds(10), proxyTLS: Duration? = .seconds(10), tunnel: Duration? = .seconds(30),
        tls: Duration? = .seconds(10), send: Duration? = .seconds(30), firstByte: Duration? = .seconds(60),
        readIdle: Duration? = .seconds(30), attempt: Duration? = nil, total: Duration? = .seconds(600)
    ) {
        limits = Limits(
            pool: Self.limit(pool), resolve: Self.limit(resolve), connect: Self.limit(connect),
            proxyTLS: Self.limit(proxyTLS), tunnel: Self.limit(tunnel), tls: Self.limit(tls), send: Self.limit(send),
            firstByte: Self.limit(firstByte), readIdle: Self.limit(readIdle), queue: Self.limit(queue),
            attempt: Self.limit(attempt), total: Self.limit(total))
    }

    /// The wait for the request's turn in the session's queue (`HTTPSession.QueueLimits`); none by default. Other
    /// limits do not count during this wait, since the request has not begun.
    public var queue: Duration? {
        get { self[.queue] }
        set { self[.queue] = newValue }
    }
    /// The wait for a connection to become free.
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
    /// The TLS handshake with a proxy.
    public var proxyTLS: Duration? {
        get { self[.proxyTLS] }
        set { self[.proxyTLS] = newValue }
    }
    /// The time for a proxy to make a tunnel to the origin, including its look-up and connection.
    public var tunnel: Duration? {
        get { self[.tunnel] }
        set { self[.tunnel] = newValue }
    }
    /// The TLS handshake with the origin.
    public var tls: Duration? {
        get { self[.tls] }
        set { self[.tls] = newValue }
    }
    /// The longest stall while writing. A slow peer that keeps accepting bytes does not time out.
    public var send: Duration? {
        get { self[.send] }
        set { self[.send] = newValue }
    }
    public var firstByte: Duration? {
        get { self[.firstByte] }
        set { self[.firstByte] = newValue }
    }
    /// The longest silence while a body arrives. A slow peer that keeps sending does not time out.
    public var readIdle: Duration? {
        get { self[.readIdle] }
        set { self[.readIdle] = newValue }
    }
    /// Each attempt, from its connection to the head of its response; none by default. So one that is slow leaves time
    /// for another. The waits for a turn and for a connection do not count, and neither do the bodies.
    public var attempt: Duration? {
        get { self[.attempt] }
        set { self[.attempt] = newValue }
    }
    /// The whole request from its turn in the queue on, including its body, retries and redirects.
    public var total: Duration? {
        get { self[.total] }
        set { self[.total] = newValue }
    }

    public subscript(_ limit: Limit) -> Duration? {
        get { length(of: limit).map { .nanoseconds($0) } }
        set {
            let nanoseconds = Self.limit(newValue)
            switch limit {
            case .pool: limits.pool = nanoseconds
            case .resolve: limits.resolve = nanoseconds
            case .connect: limits.connect = nanoseconds
            case .proxyTLS: limits.proxyTLS = nanoseconds
            case .tunnel: limits.tunnel = nanoseconds
            case .tls: limits.tls = nanoseconds
            case .send: limits.send = nanoseconds
            case .firstByte: limits.firstByte = nanoseconds
            case .readIdle: limits.readIdle = nanoseconds
            case .queue: limits.queue = nanoseconds
            case .attempt: limits.attempt = nanoseconds
            case .total: limits.total = nanoseconds
            }
        }
    }

    /// The deadline under `limit` for something that begins at `start`.
    package func deadline(for limit: Limit, from start: HTTP.Instant) -> HTTP.Instant {
        start.advanced(by: nanoseconds(for: limit))
    }

    /// The limit in nanoseconds; nil for none.
    package func length(of limit: Limit) -> Int64? {
        let nanoseconds = nanoseconds(for: limit)
        return nanoseconds == Self.unlimited ? nil : nanoseconds
    }

    private func nanoseconds(for limit: Limit) -> Int64 {
        switch limit {
        case .pool: limits.pool
        case .resolve: limits.resolve
        case .connect: limits.connect
        case .proxyTLS: limits.proxyTLS
        case .tunnel: limits.tunnel
        case .tls: limits.tls
        case .send: limits.send
        case .firstByte: limits.firstByte
        case .readIdle: limits.readIdle
        case .queue: limits.queue
        case .attempt: limits.attempt
        case .total: limits.total
        }
    }

    private static func limit(_ duration: Duration?) -> Int64 {
        duration.map { max(0, $0.clampedNanoseconds) } ?? unlimited
    }
}
