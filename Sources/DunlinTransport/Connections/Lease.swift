internal import DunlinReactor
internal import DunlinTypes

/// The right to use one slot of a connection (HTTP/1.1 has one). Releasing the lease closes the connection; only an
/// exchange that ended cleanly gives it back.
struct Lease: ~Copyable {
    let connection: Connection
    var slot: Int { 0 }
    /// The turn of the connection's channel that this lease owns.
    let turn: UInt64
    /// The pool; nil after the lease was given back.
    private var pool: Pool?
    /// The level of the request if the connection is beyond the caps; otherwise 0.
    private let level: Int

    init(_ connection: Connection, turn: UInt64, from pool: Pool, level: Int = 0) {
        self.connection = connection
        self.turn = turn
        self.pool = pool
        self.level = level
    }

    deinit {
        guard let pool else { return }
        pool.end(connection, .unfit)
        pool.discard(connection.origin, level: level)
    }

    /// Gives the connection back after an exchange, fit for the next.
    consuming func giveBack(at now: HTTP.Instant) {
        guard connection.stream.endTurn(), let pool = pool.take() else { return }
        if level == 0 { return pool.giveBack(connection, at: now) }
        pool.end(connection, .displaced)
        pool.discard(connection.origin, level: level)
    }
}
