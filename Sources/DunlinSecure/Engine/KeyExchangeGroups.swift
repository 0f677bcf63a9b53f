internal import COpenSSL

/// The groups for key exchange, the preferred one first.
///
/// A recording of today's traffic can be read once there are large quantum computers, unless its keys were exchanged in
/// a way that withstands them. ML-KEM 768 does, combined with X25519, which is better studied (X25519MLKEM768). OpenSSL
/// has it from 3.5 on, and refuses a whole list for one unknown name: so the installed library is asked, not the one
/// compiled against.
enum KeyExchangeGroups {
    /// The lists, the best first. A star sends a key for the group at once: without one for X25519, a server without
    /// ML-KEM would have to ask for it, which costs a round trip.
    static let lists = ["*X25519MLKEM768:*X25519:P-256:P-384:P-521", classical]

    /// The groups that every OpenSSL 3 has. X25519 costs a third less than P-256.
    static let classical = "X25519:P-256:P-384:P-521"

    /// Returns the first accepted list; the last one if none is, so that its error is reported.
    static func best(of lists: [String] = lists, _ isTaken: (String) -> Bool) -> String {
        lists.first(where: isTaken) ?? lists.last ?? classical
    }

    /// The list that the library accepts, determined once.
    static let preferred = best { list in
        guard let context = SSL_CTX_new(TLS_client_method()) else { return false }
        defer {
            SSL_CTX_free(context)
            OpenSSLErrors.clear()
        }
        return dunlin_ctx_set_groups(context, list) == 1
    }
}
