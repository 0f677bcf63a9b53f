internal import COpenSSL
internal import DunlinTypes

// The one file of this module that vouches for OpenSSL's objects between threads.

// SAFETY: an engine cannot be copied, so it has one holder; OpenSSL's connections, and the state that its callbacks
// reach, may be used on any thread as long as it is one at a time.
extension TLSEngine: @unchecked Sendable {}

/// OpenSSL's `SSL_CTX`: made once for a configuration, shared by all its connections and never changed after.
public final class TLSContext: Sendable {
    let context: Owned
    let settings: TLSSettings
    let tickets: TicketStore?
    let keyLog: KeyLog?

    /// Creates a context. Throws `invalidSetting` for a list that OpenSSL does not accept, or a key log that cannot be
    /// opened.
    public init(_ settings: TLSSettings = TLSSettings()) throws(TLSError) {
        OpenSSLErrors.clear()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .outOfMemory }
        self.context = Owned(context) { SSL_CTX_free($0) }
        self.settings = settings
        tickets = settings.resumes ? TicketStore() : nil
        keyLog = if let path = settings.keyLogPath { try KeyLog(path: path) } else { nil }
        Self.harden(context)
        try Self.negotiate(settings, in: context)
        Self.listen(context, settings)
    }

    private static func negotiate(_ settings: TLSSettings, in context: OpaquePointer) throws(TLSError) {
        func check(_ code: Int32, _ name: String, _ value: String) throws(TLSError) {
            if code == 1 { return }
            let words = OpenSSLErrors.words(OpenSSLErrors.take())
            throw .invalidSetting("`tls.\(name)` is \"\(VisibleText.of(value, upTo: 200))\" (\(words))")
        }
        let (versions, groups) = (settings.versions, settings.groups ?? KeyExchangeGroups.preferred)
        try check(dunlin_ctx_set_min_version(context, versions.lowerBound.number), "versions", "\(versions)")
        try check(dunlin_ctx_set_max_version(context, versions.upperBound.number), "versions", "\(versions)")
        try check(SSL_CTX_set_cipher_list(context, settings.ciphers), "ciphers", settings.ciphers)
        try check(SSL_CTX_set_ciphersuites(context, settings.suites), "suites", settings.suites)
        try check(dunlin_ctx_set_groups(context, groups), "groups", groups)
        guard let protocols = wireFormat(settings.applicationProtocols) else {
            throw .invalidSetting("an application protocol's name must have 1 to 255 bytes")
        }
        if !protocols.isEmpty, SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count)) != 0 {
            throw .invalidSetting("OpenSSL refuses the application protocols \(settings.applicationProtocols)")
        }
    }

    /// Forbids renegotiation, compression and early data (which is never requested), and makes an end without
    /// close_notify an error.
    ///
    /// All of it is set here, even OpenSSL's defaults: distributions and configuration files change them.
    private static func harden(_ context: OpaquePointer) {
        SSL_CTX_set_options(context, dunlin_op_no_renegotiation | dunlin_op_no_compression)
        SSL_CTX_clear_options(
            context,
            dunlin_op_ignore_unexpected_eof | dunlin_op_legacy_server_connect | dunlin_op_unsafe_renegotiation
                | dunlin_op_no_forward_secrecy)
        // 112 bits: no RSA or DH below 2048 bits, no elliptic curve below 224, no SHA-1 in a signature.
        SSL_CTX_set_security_level(context, 2)
        // The record buffers (33 KiB) are released whenever they are empty. A write is always accepted whole.
        dunlin_ctx_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
        dunlin_ctx_set_read_ahead(context, 0)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    }

    private static func listen(_ context: OpaquePointer, _ settings: TLSSettings) {
        SSL_CTX_set_cert_verify_callback(context, { store, _ in EngineCallbacks.verify(store) }, nil)
        SSL_CTX_set_cert_cb(context, { ssl, _ in EngineCallbacks.chooseCertificate(ssl) }, nil)
        SSL_CTX_set_info_callback(context) { ssl, kind, value in EngineCallbacks.note(ssl, kind, value) }
        if settings.asksForStaple {
            dunlin_ctx_set_status_callback(context) { ssl, _ in EngineCallbacks.checkStaple(ssl) }
        }
        let mode = settings.resumes ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL : SSL_SESS_CACHE_OFF
        dunlin_ctx_set_session_cache_mode(context, Int(mode))
        if settings.resumes {
            SSL_CTX_sess_set_new_cb(context) { ssl, session in EngineCallbacks.keep(session, of: ssl) }
        }
        if settings.keyLogPath != nil {
            SSL_CTX_set_keylog_callback(context) { ssl, line in EngineCallbacks.log(line, of: ssl) }
        }
    }

    /// Returns the names, each preceded by its length; nil if one is too long.
    private static func wireFormat(_ names: [String]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for name in names {
            guard (1...255).contains(name.utf8.count) else { return nil }
            bytes.append(UInt8(name.utf8.count))
            bytes += name.utf8
        }
        return bytes
    }
}

extension TLSSettings.Version {
    var number: Int32 {
        switch self {
        case .tls12: TLS1_2_VERSION
        case .tls13: TLS1_3_VERSION
        }
    }
}
