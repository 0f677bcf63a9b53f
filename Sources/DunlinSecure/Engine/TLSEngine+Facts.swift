internal import COpenSSL
public import DunlinTypes

// The results of the handshake.
extension TLSEngine {
    /// The decision on trust: by the rules, by somebody asked, or from the handshake whose session is resumed.
    public var decision: HTTP.TrustDecision? {
        switch state.pointee.trust {
        case .undecided, .awaitingStaple: nil
        case .asking(let decision), .settled(let decision): decision
        }
    }

    /// The protocol that the server chose by ALPN; nil if it chose none.
    public var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// The TLS version; nil before the handshake is done.
    public var version: TLSSettings.Version? {
        guard SSL_is_init_finished(ssl) == 1 else { return nil }
        return TLSSettings.Version.allCases.first { $0.number == SSL_version(ssl) }
    }

    /// The cipher suite's standard name; nil before the handshake is done.
    public var cipher: String? {
        guard SSL_is_init_finished(ssl) == 1, let cipher = SSL_get_current_cipher(ssl) else { return nil }
        return SSL_CIPHER_standard_name(cipher).map { String(cString: $0) }
    }

    /// Whether the handshake resumed an earlier session.
    public var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// The names of the issuers whose certificates the server accepts, in the form of RFC 4514. Empty if it names none,
    /// and until it asks for a client certificate.
    public var acceptableIssuers: [String] {
        // The server decides their number; a choice among more than these is useless.
        (0..<min(max(dunlin_peer_name_count(ssl), 0), 256)).compactMap { index in
            dunlin_peer_name_at(ssl, index).map { X509Reading.name($0) }
        }
    }
}
