internal import COpenSSL

/// The groups that keys are exchanged in, the preferred first.
///
/// A recording of today's traffic can be read once there are large quantum computers, unless its keys were exchanged in
/// a way that withstands them. ML-KEM 768 does, and beside it X25519 counts, which has been looked at for longer
/// (X25519MLKEM768). OpenSSL has it from 3.5 on, and refuses a whole list for one name that it does not know: so the
/// library that is there is asked, not the one that was compiled against.
enum KeyExchangeGroups {
    /// The best first. A star has a key sent for this group at once: without one for X25519 a server that knows no
    /// ML-KEM would have to ask for another, which costs a round trip.
    static let lists = ["*X25519MLKEM768:*X25519:P-256:P-384:P-521", classical]

    /// What every OpenSSL 3 has. X25519 costs a third less than P-256.
    static let classical = "X25519:P-256:P-384:P-521"

    /// The first list that is taken; the last if none is, so that its error is told.
    static func best(of lists: [String] = lists, _ isTaken: (String) -> Bool) -> String {
        lists.first(where: isTaken) ?? lists.last ?? classical
    }

    /// What the library takes, asked once.
    static let preferred = best { list in
        guard let context = SSL_CTX_new(TLS_client_method()) else { return false }
        defer {
            SSL_CTX_free(context)
            OpenSSLErrors.clear()
        }
        return dunlin_ctx_set_groups(context, list) == 1
    }
}
