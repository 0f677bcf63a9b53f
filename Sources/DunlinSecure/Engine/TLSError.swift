public import DunlinTypes

/// The error that ended a TLS connection early, by what can be done about it.
///
/// Every sequence of bytes from a peer ends in success or in one of these.
public enum TLSError: Error, Sendable, Equatable {
    /// The server ended the connection with an alert.
    case alert(TLSAlert)
    /// The server requires a client certificate, and none was configured or given.
    case clientCertificateRequired
    /// The server wanted another handshake on the open connection, and ended it when there was none.
    case renegotiationRefused
    /// The server speaks no TLS version that is allowed here.
    case versionMismatch(String)
    /// The peer does not speak TLS: often clear-text HTTP at this port.
    case notTLS
    /// The server chose parameters that are too weak or were not offered.
    case unacceptableParameters(String)
    /// A record cannot be decrypted or is malformed: changed on the way, or not by this peer.
    case badRecord(String)
    /// The server broke the protocol's rules.
    case protocolViolation(String)
    /// More bytes during the handshake, or messages without content, than any honest server sends.
    case flood(String)
    /// The server's certificate was not trusted.
    case untrusted(NetworkError.TrustRefusal)
    /// The stream ended during the handshake. `afterFirstByte` tells whether the server had sent something.
    case endedDuringHandshake(afterFirstByte: Bool)
    /// The stream ended without close_notify: the content may be incomplete.
    case truncated
    /// The connection was used for content before it was open, or after it was closed.
    case closed
    /// OpenSSL does not accept a setting or certificate.
    case invalidSetting(String)
    /// OpenSSL does not accept the host's name for the handshake.
    case invalidServerName(String)
    /// OpenSSL was out of memory.
    case outOfMemory
}

extension TLSError: CustomStringConvertible {
    /// One sentence without a full stop; constant text and names, never what was sent.
    public var description: String {
        switch self {
        case .alert(let alert): "the server ended the connection with the TLS alert \(alert.name): \(alert.meaning)"
        case .clientCertificateRequired: "the server requires a client certificate and got none; set `tls.identity`"
        case .renegotiationRefused:
            "the server asked to renegotiate, often to request a client certificate; Dunlin does not support that"
        case .versionMismatch(let words): "the server supports none of the allowed TLS versions: \(words)"
        case .notTLS: "the server does not speak TLS on this port; use http://, or its port for https"
        case .unacceptableParameters(let words): "the server chose parameters that are not acceptable: \(words)"
        case .badRecord(let words): "a TLS record is damaged: \(words)"
        case .protocolViolation(let words): "the server broke the rules of TLS: \(words)"
        case .flood(let words): "the server sent too much over TLS: \(words)"
        case .untrusted(let refusal): "the server's certificate is not trusted: \(refusal)"
        case .endedDuringHandshake(let afterFirstByte):
            afterFirstByte
                ? "the server closed the connection during the TLS handshake"
                : "the server closed the connection before it answered the TLS handshake"
        case .truncated: "the TLS connection ended without close_notify; the received data may be incomplete"
        case .closed: "the TLS connection is not open"
        case .invalidSetting(let words): "a TLS setting cannot be used: \(words)"
        case .invalidServerName(let name):
            "the host name \"\(VisibleText.of(name, upTo: 255))\" cannot be sent in the TLS handshake"
        case .outOfMemory: "OpenSSL ran out of memory"
        }
    }
}
