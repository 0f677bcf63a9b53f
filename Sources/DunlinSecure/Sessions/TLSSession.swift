internal import COpenSSL
internal import DunlinTypes

/// A session to resume with a server, and the path that was verified for it.
struct TLSSession: Sendable {
    let session: Owned
    let path: [Certificate]
    let validity: PathValidity
    /// Whether it may be used once, as in TLS 1.3: a ticket used twice would link the connections (RFC 8446 §C.4).
    let isForOneUse: Bool
    /// The Unix time of its creation.
    let made: Int64
    /// The server's lifetime for it in seconds; zero if it gave none.
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

    /// Offers the session. One for several uses is copied, as a handshake changes its own.
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
