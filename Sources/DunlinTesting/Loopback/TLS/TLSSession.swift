internal import COpenSSL
internal import DunlinTypes

extension LoopbackServer {
    /// OpenSSL's side of one connection, between two memory BIOs, without a socket. One thread owns it.
    final class TLSSession {
        enum Progress {
            case done
            case wantsInput
            /// The peer has ended its side.
            case ended
            case failed(String)
        }

        private let context: OpaquePointer
        private let ssl: OpaquePointer
        /// What has come from the peer, and what must be sent to it; `ssl` owns both.
        private let input: OpaquePointer
        private let output: OpaquePointer
        private let protocols: ProtocolList
        private let identities: [String: IssuedCertificate]
        /// Whether the peer's close_notify has been counted.
        var hasReceivedCloseNotify = false

        init(_ tls: TLS) throws(AuthorityError) {
            guard let context = SSL_CTX_new(TLS_server_method()) else { throw AuthorityError(.preparingTLS) }
            guard let ssl = SSL_new(context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
                SSL_CTX_free(context)
                throw AuthorityError(.preparingTLS)
            }
            self.context = context
            self.ssl = ssl
            self.input = input
            self.output = output
            protocols = ProtocolList(tls.protocols)
            identities = tls.identities
            SSL_set_bio(ssl, input, output)
            SSL_set_accept_state(ssl)
            try agree(tls)
            try present(tls)
            try askClient(tls)
        }

        deinit {
            SSL_free(ssl)
            SSL_CTX_free(context)
        }

        func handshake() -> Progress {
            while true {
                ERR_clear_error()
                let result = SSL_do_handshake(ssl)
                guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_X509_LOOKUP else { return progress(result) }
                if let complaint = choose() { return .failed(complaint) }
            }
        }

        /// Reads at most one record into `bytes`, replacing their contents.
        func read(into bytes: inout [UInt8]) -> Progress {
            ERR_clear_error()
            var result: Int32 = 0
            bytes = [UInt8](unsafeUninitializedCapacity: 16_384) { buffer, filled in
                result = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
                filled = max(Int(result), 0)
            }
            return progress(result)
        }

        func write(_ bytes: UnsafeRawBufferPointer) -> Progress {
            ERR_clear_error()
            return bytes.isEmpty ? .done : progress(SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count)))
        }

        func feed(_ bytes: [UInt8]) { BIO_write(input, bytes, Int32(bytes.count)) }

        /// Takes what must be sent to the peer now.
        func takeOutput() -> [UInt8] {
            let count = BIO_ctrl_pending(output)
            guard count > 0 else { return [] }
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                filled = max(Int(BIO_read(output, buffer.baseAddress, Int32(clamping: count))), 0)
            }
        }

        /// Whether there is unread input from the peer.
        var holdsInput: Bool { SSL_has_pending(ssl) == 1 || BIO_ctrl_pending(input) > 0 }

        /// Sends a close_notify, unless one was sent or none is wanted.
        func sendCloseNotify() {
            ERR_clear_error()
            SSL_shutdown(ssl)
            ERR_clear_error()
        }

        /// Turns the close_notify off.
        func leaveSilently() { SSL_set_quiet_shutdown(ssl, 1) }

        /// With TLS 1.3, changes keys in both directions. Before that, asks the client to renegotiate.
        func renew() -> Progress {
            ERR_clear_error()
            let isAsked =
                SSL_version(ssl) >= TLS1_3_VERSION
                ? SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) : SSL_renegotiate(ssl)
            return isAsked == 1 ? handshake() : .failed(LastOpenSSLError.take() ?? "keys cannot be renewed")
        }

        private func progress(_ result: Int32) -> Progress {
            if result > 0 { return .done }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: return .wantsInput
            case SSL_ERROR_ZERO_RETURN: return .ended
            default: return .failed(LastOpenSSLError.take() ?? "no reason given")
            }
        }
    }
}

// MARK: - Setting up

extension LoopbackServer.TLSSession {
    private func check(_ result: Int32) throws(AuthorityError) {
        guard result == 1 else { throw AuthorityError(.preparingTLS) }
    }

    private func agree(_ tls: LoopbackServer.TLS) throws(AuthorityError) {
        ERR_clear_error()
        SSL_set_security_level(ssl, 0)
        try check(dunlin_set_min_version(ssl, tls.versions.lowerBound.number))
        try check(dunlin_set_max_version(ssl, tls.versions.upperBound.number))
        if let ciphers = tls.ciphersBefore1_3 { try check(SSL_set_cipher_list(ssl, ciphers)) }
        if let ciphers = tls.ciphers { try check(SSL_set_ciphersuites(ssl, ciphers)) }
        if let groups = tls.groups { try check(dunlin_set_groups(ssl, groups)) }
        try check(dunlin_ctx_set_ticket_keys(context, tls.ticketKeys, Int32(tls.ticketKeys.count)))
        // Sessions are in tickets: the contexts of a server's connections share nothing else.
        try check(SSL_set_session_id_context(ssl, "dunlin", 6))
        try check(SSL_set_num_tickets(ssl, max(tls.tickets, 0)))
        if tls.tickets == 0 { SSL_set_options(ssl, dunlin_op_no_ticket) }
        if !tls.protocols.isEmpty {
            SSL_CTX_set_alpn_select_cb(context, { ProtocolList.select($1, $2, $3, $4, $5) }, protocols.pointer)
        }
    }

    /// Chooses the certificate, after the client's hello. Returns the reason if that is impossible.
    private func choose() -> String? {
        SSL_set_cert_cb(ssl, nil, nil)
        let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0).lowercased() }
        guard let chosen = name.flatMap({ identities[$0] }) else { return nil }
        do throws(AuthorityError) { try use(chosen) } catch { return "\(error)" }
        return nil
    }

    private func use(_ identity: IssuedCertificate) throws(AuthorityError) {
        let leaf = try OpenCertificate(identity.der)
        let key = try identity.key.open()
        SSL_certs_clear(ssl)
        try check(SSL_use_certificate(ssl, leaf.pointer))
        try check(SSL_use_PrivateKey(ssl, key.pointer))
        guard let stack = dunlin_certificates_new() else { throw AuthorityError(.preparingTLS) }
        defer { dunlin_certificates_free(stack) }
        for each in identity.intermediates {
            _ = dunlin_certificates_push(stack, try OpenCertificate(each).release())
        }
        try check(dunlin_use_chain(ssl, stack))
    }

    private func present(_ tls: LoopbackServer.TLS) throws(AuthorityError) {
        // All are tried, so that one that does not fit is reported before a client asks for it.
        for other in tls.identities.values { try use(other) }
        try use(tls.identity)
        // Otherwise OpenSSL completes the chain itself, from the authorities for clients.
        dunlin_set_mode(ssl, Int(SSL_MODE_NO_AUTO_CHAIN))
        if !tls.identities.isEmpty { SSL_set_cert_cb(ssl, { _, _ in -1 }, nil) }
        guard let staple = tls.staple else { return }
        dunlin_ctx_set_status_callback(context) { _, _ in SSL_TLSEXT_ERR_OK }
        try staple.withUnsafeBytes { bytes throws(AuthorityError) in
            try check(dunlin_set_status_response(ssl, bytes.baseAddress, Int32(bytes.count)))
        }
    }

    private func askClient(_ tls: LoopbackServer.TLS) throws(AuthorityError) {
        let mode =
            switch tls.clientCertificate {
            case .ignored: SSL_VERIFY_NONE
            case .requested: SSL_VERIFY_PEER
            case .required: SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
            }
        SSL_set_verify(ssl, mode, tls.clientAuthorities.isEmpty ? { _, _ in 1 } : nil)
        for authority in tls.clientAuthorities {
            let certificate = try OpenCertificate(authority)
            try check(SSL_add_client_CA(ssl, certificate.pointer))
            try check(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate.pointer))
        }
    }
}

// MARK: - What was agreed on

extension LoopbackServer.TLSSession {
    func summary(connection: Int) throws(AuthorityError) -> LoopbackServer.Handshake {
        LoopbackServer.Handshake(
            version: LoopbackServer.TLS.Version(number: SSL_version(ssl)),
            cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "none",
            serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
            negotiatedProtocol: negotiatedProtocol, wasResumed: SSL_session_reused(ssl) == 1,
            clientCertificate: try clientCertificate(), connection: connection)
    }

    private var negotiatedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    private func clientCertificate() throws(AuthorityError) -> Bytes? {
        guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
        defer { X509_free(certificate) }
        return Bytes(try OpenKey.written(.exporting) { i2d_X509(certificate, &$0) })
    }
}

extension LoopbackServer.TLS.Version {
    fileprivate var number: Int32 {
        switch self {
        case .v1_0: TLS1_VERSION
        case .v1_1: TLS1_1_VERSION
        case .v1_2: TLS1_2_VERSION
        case .v1_3: TLS1_3_VERSION
        }
    }

    fileprivate init(number: Int32) {
        self =
            switch number {
            case TLS1_VERSION: .v1_0
            case TLS1_1_VERSION: .v1_1
            case TLS1_2_VERSION: .v1_2
            default: .v1_3
            }
    }
}

/// The server's protocols in ALPN's format, at a fixed address: OpenSSL's callback gets nothing else.
private final class ProtocolList {
    private struct List {
        let names: UnsafeMutableBufferPointer<UInt8>
    }

    private let list: UnsafeMutablePointer<List>

    var pointer: UnsafeMutableRawPointer { UnsafeMutableRawPointer(list) }

    init(_ names: [String]) {
        let bytes = names.flatMap { [UInt8(clamping: $0.utf8.count)] + Array($0.utf8.prefix(255)) }
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        list = .allocate(capacity: 1)
        list.initialize(to: List(names: copy))
    }

    deinit {
        list.pointee.names.deallocate()
        list.deallocate()
    }

    static func select(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32, _ argument: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let names = argument?.assumingMemoryBound(to: List.self).pointee.names else {
            return SSL_TLSEXT_ERR_NOACK
        }
        var name: UnsafeMutablePointer<UInt8>?
        let outcome = SSL_select_next_proto(
            &name, chosenCount, names.baseAddress, UInt32(names.count), offered, offeredCount)
        guard outcome == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        chosen?.pointee = UnsafePointer(name)
        return SSL_TLSEXT_ERR_OK
    }
}
