internal import COpenSSL
public import DunlinTypes

// What was agreed on.
extension TLSEngine {
    /// What trust came to: by the rules, by whoever was asked, or in the handshake whose session is resumed.
    public var decision: HTTP.TrustDecision? {
        switch state.pointee.trust {
        case .undecided, .awaitingStaple: nil
        case .asking(let decision), .settled(let decision): decision
        }
    }

    /// What the server chose by ALPN; nil when it chose nothing.
    public var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Nil before the handshake is done.
    public var version: TLSSettings.Version? {
        guard SSL_is_init_finished(ssl) == 1 else { return nil }
        return TLSSettings.Version.allCases.first { $0.number == SSL_version(ssl) }
    }

    /// The cipher suite's name in the standard. Nil before the handshake is done.
    public var cipher: String? {
        guard SSL_is_init_finished(ssl) == 1, let cipher = SSL_get_current_cipher(ssl) else { return nil }
        return SSL_CIPHER_standard_name(cipher).map { String(cString: $0) }
    }

    /// The handshake was short, because the server remembered an earlier one.
    public var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// Whose certificates the server says it accepts, by their names as RFC 4514 writes them. Empty when it does not
    /// say, and until it asks for a client certificate.
    public var acceptableIssuers: [String] {
        // The server decides how many there are; more than these nobody chooses among.
        (0..<min(max(dunlin_peer_name_count(ssl), 0), 256)).compactMap { index in
            dunlin_peer_name_at(ssl, index).map { X509Reading.name($0) }
        }
    }
}
