/// How long each phase may take. Finite by default; `nil` takes a limit away.
public struct Timeouts: Sendable, Hashable {
    public var pool: Duration?
    public var resolve: Duration?
    public var connect: Duration?
    public var secure: Duration?
    /// The longest stall while writing; a slow peer that keeps taking bytes is not timed out.
    public var send: Duration?
    public var firstByte: Duration?
    /// The longest silence while a body arrives; a slow peer that keeps sending is not timed out.
    public var idle: Duration?
    public var total: Duration?

    public init(
        pool: Duration? = .seconds(10), resolve: Duration? = .seconds(10), connect: Duration? = .seconds(10),
        secure: Duration? = .seconds(10), send: Duration? = .seconds(30), firstByte: Duration? = .seconds(60),
        idle: Duration? = .seconds(30), total: Duration? = .seconds(600)
    ) {
        self.pool = pool
        self.resolve = resolve
        self.connect = connect
        self.secure = secure
        self.send = send
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    public subscript(_ phase: Phase) -> Duration? {
        switch phase {
        case .pool: pool
        case .resolve: resolve
        case .connect: connect
        case .secure: secure
        case .send: send
        case .firstByte: firstByte
        case .idle: idle
        case .total: total
        }
    }
}
