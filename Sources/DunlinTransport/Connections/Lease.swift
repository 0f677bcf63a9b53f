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
    /// Whether the connection is beyond the caps.
    private let isBeyond: Bool

    init(_ connection: Connection, turn: UInt64, from pool: Pool, isBeyond: Bool = false) {
        self.connection = connection
        self.turn = turn
        self.pool = pool
        self.isBeyond = isBeyond
    }

    deinit {
        guard let pool else { return }
        pool.end(connection, .unfit)
        pool.discard(connection.origin, isBeyond: isBeyond)
    }

    /// Gives the connection back after an exchange, fit for the next.
    consuming func giveBack(at now: HTTP.Instant) {
        guard connection.stream.endTurn(), let pool = pool.take() else { return }
        if !isBeyond { return pool.giveBack(connection, at: now) }
        pool.end(connection, .displaced)
        pool.discard(connection.origin, isBeyond: isBeyond)
    }
}
