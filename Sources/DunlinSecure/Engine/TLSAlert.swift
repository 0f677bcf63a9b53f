/// An alert by its number (RFC 8446 §6, RFC 5246 §7.2): a side's reason for giving up.
public struct TLSAlert: Sendable, Hashable, CustomStringConvertible {
    public let code: UInt8

    public init(code: UInt8) {
        self.code = code
    }

    /// The alert's name in the standard, or its number.
    public var name: String { Self.known[code]?.name ?? "number \(code)" }

    /// The alert's meaning for whoever made the request.
    public var meaning: String { Self.known[code]?.meaning ?? "its code is unknown" }

    public var description: String { name }

    public static let closeNotify = TLSAlert(code: 0)
    public static let unexpectedMessage = TLSAlert(code: 10)
    public static let badRecordMAC = TLSAlert(code: 20)
    public static let handshakeFailure = TLSAlert(code: 40)
    public static let badCertificate = TLSAlert(code: 42)
    public static let protocolVersion = TLSAlert(code: 70)
    public static let noRenegotiation = TLSAlert(code: 100)
    public static let unrecognizedName = TLSAlert(code: 112)
    public static let certificateRequired = TLSAlert(code: 116)
    public static let noApplicationProtocol = TLSAlert(code: 120)

    /// Every alert in the registry.
    static let known: [UInt8: (name: String, meaning: String)] = [
        0: ("close_notify", "it closes the connection"),
        10: ("unexpected_message", "it got a message that it did not expect"),
        20: ("bad_record_mac", "it got a record that was changed on the way"),
        21: ("decryption_failed", "it could not decrypt a record"),
        22: ("record_overflow", "it got a record that is too long"),
        30: ("decompression_failure", "it could not decompress a record"),
        40: ("handshake_failure", "it finds none of the ciphers, groups or signatures offered acceptable"),
        41: ("no_certificate", "it got no certificate"),
        42: ("bad_certificate", "it finds our certificate corrupt or wrongly signed"),
        43: ("unsupported_certificate", "it does not support our certificate's type"),
        44: ("certificate_revoked", "our certificate has been revoked"),
        45: ("certificate_expired", "our certificate has expired or is not valid yet"),
        46: ("certificate_unknown", "it does not accept our certificate"),
        47: ("illegal_parameter", "it got a value that is out of range"),
        48: ("unknown_ca", "it does not know who issued our certificate"),
        49: ("access_denied", "it knows our certificate and denies access"),
        50: ("decode_error", "it could not decode a message"),
        51: ("decrypt_error", "a signature or a key exchange did not verify"),
        60: ("export_restriction", "a key breaks old export restrictions"),
        70: ("protocol_version", "it speaks none of the TLS versions offered"),
        71: ("insufficient_security", "it asks for stronger ciphers than were offered"),
        80: ("internal_error", "it had an internal error"),
        86: ("inappropriate_fallback", "it speaks a later TLS version than was offered"),
        90: ("user_canceled", "it cancelled the handshake"),
        100: ("no_renegotiation", "it does not renegotiate"),
        109: ("missing_extension", "an extension that it needs is missing"),
        110: ("unsupported_extension", "it got an extension that it did not ask for"),
        111: ("certificate_unobtainable", "it could not fetch our certificate"),
        112: ("unrecognized_name", "it does not know the host by this name"),
        113: ("bad_certificate_status_response", "it got a status of a certificate that it cannot use"),
        114: ("bad_certificate_hash_value", "a certificate is not the one that was announced"),
        115: ("unknown_psk_identity", "it does not know the shared key"),
        116: ("certificate_required", "it requires a client certificate"),
        120: ("no_application_protocol", "it speaks none of the application protocols offered"),
    ]
}
