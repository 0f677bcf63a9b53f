internal import COpenSSL
internal import DunlinTypes

/// What makes the next handshake with a server short, and the path that was verified when it was agreed on.
struct TLSSession: Sendable {
    let session: Owned
    let path: [Certificate]
    let validity: PathValidity
    /// TLS 1.3: a ticket is shown once, or whoever watches could link the connections (RFC 8446 §C.4).
    let isForOneUse: Bool
    /// Unix time at which it was made.
    let made: Int64
    /// Seconds that the server said it is good for; zero when it said nothing.
    let lifetime: Int64

    /// Takes over the reference.
    init(adopting session: OpaquePointer, path: [Certificate]) {
        self.session = Owned(session) { SSL_SESSION_free($0) }
        self.path = path
        validity = PathValidity(of: path)
        isForOneUse = SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
        made = Int64(SSL_SESSION_get_time(session))
        lifetime = Int64(clamping: SSL_SESSION_get_ticket_lifetime_hint(session))
    }

    /// A session for several uses is copied: a handshake writes into its own.
    func offer(to ssl: OpaquePointer) -> Bool {
        if isForOneUse { return SSL_set_session(ssl, session.pointer) == 1 }
        guard let copy = SSL_SESSION_dup(session.pointer) else { return false }
        defer { SSL_SESSION_free(copy) }
        return SSL_set_session(ssl, copy) == 1
    }
}

extension TLSSession: Ticket {
    /// OpenSSL spoils a session whose connection failed.
    var isUsable: Bool { SSL_SESSION_is_resumable(session.pointer) == 1 }
}
