internal import COpenSSL

extension TLSError {
    /// Creates the error for a client from OpenSSL's code.
    init(openSSL code: UInt) {
        let words = OpenSSLErrors.words(code)
        let reason = dunlin_error_reason(code)
        if reason == ERR_R_MALLOC_FAILURE { self = .outOfMemory; return }
        guard dunlin_error_library(code) == ERR_LIB_SSL else {
            self = .protocolViolation(words)
            return
        }
        if reason >= SSL_AD_REASON_OFFSET {
            self = .alert(TLSAlert(code: UInt8(truncatingIfNeeded: reason - SSL_AD_REASON_OFFSET)))
            return
        }
        switch Self.kinds[reason] {
        case .version: self = .versionMismatch(words)
        case .parameters: self = .unacceptableParameters(words)
        case .record: self = .badRecord(words)
        case .flood: self = .flood(words)
        case .truncation: self = .truncated
        case .setting: self = .invalidSetting(words)
        case nil: self = .protocolViolation(words)
        }
    }

    private enum Kind {
        case version
        case parameters
        case record
        case flood
        case truncation
        case setting
    }

    /// The kinds of reasons; one that is not listed breaks the protocol's rules.
    private static let kinds: [Int32: Kind] = [
        SSL_R_WRONG_VERSION_NUMBER: .version,
        SSL_R_WRONG_SSL_VERSION: .version,
        SSL_R_UNSUPPORTED_PROTOCOL: .version,
        SSL_R_UNSUPPORTED_SSL_VERSION: .version,
        SSL_R_UNKNOWN_PROTOCOL: .version,
        SSL_R_VERSION_TOO_LOW: .version,
        SSL_R_VERSION_TOO_HIGH: .version,
        SSL_R_BAD_PROTOCOL_VERSION_NUMBER: .version,
        SSL_R_INAPPROPRIATE_FALLBACK: .version,
        SSL_R_NO_SHARED_CIPHER: .parameters,
        SSL_R_WRONG_CIPHER_RETURNED: .parameters,
        SSL_R_UNKNOWN_CIPHER_RETURNED: .parameters,
        SSL_R_WRONG_CURVE: .parameters,
        SSL_R_NO_SUITABLE_KEY_SHARE: .parameters,
        SSL_R_NO_SHARED_GROUPS: .parameters,
        SSL_R_UNSUPPORTED_ELLIPTIC_CURVE: .parameters,
        SSL_R_WRONG_SIGNATURE_TYPE: .parameters,
        SSL_R_DH_KEY_TOO_SMALL: .parameters,
        SSL_R_EE_KEY_TOO_SMALL: .parameters,
        SSL_R_CA_KEY_TOO_SMALL: .parameters,
        SSL_R_CA_MD_TOO_WEAK: .parameters,
        SSL_R_UNSAFE_LEGACY_RENEGOTIATION_DISABLED: .parameters,
        SSL_R_DECRYPTION_FAILED: .record,
        SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: .record,
        SSL_R_BAD_RECORD_TYPE: .record,
        SSL_R_BAD_LENGTH: .record,
        SSL_R_BAD_PACKET: .record,
        SSL_R_RECORD_LENGTH_MISMATCH: .record,
        SSL_R_RECORD_TOO_SMALL: .record,
        SSL_R_DATA_LENGTH_TOO_LONG: .record,
        SSL_R_ENCRYPTED_LENGTH_TOO_LONG: .record,
        SSL_R_PACKET_LENGTH_TOO_LONG: .record,
        SSL_R_LENGTH_TOO_LONG: .record,
        SSL_R_LENGTH_TOO_SHORT: .record,
        SSL_R_BLOCK_CIPHER_PAD_IS_WRONG: .record,
        SSL_R_TOO_MANY_KEY_UPDATES: .flood,
        SSL_R_TOO_MANY_WARN_ALERTS: .flood,
        SSL_R_UNEXPECTED_EOF_WHILE_READING: .truncation,
        SSL_R_NO_CIPHERS_AVAILABLE: .setting,
        SSL_R_NO_PROTOCOLS_AVAILABLE: .setting,
        SSL_R_NO_CIPHER_MATCH: .setting,
        SSL_R_UNKNOWN_CIPHER_TYPE: .setting,
    ]
}
