import COpenSSL
import DunlinTesting
import DunlinTypes
import Glibc
import Testing

/// What a test's server shares among its connections: certificate, versions, what it asks of clients.
final class TestServer {
    struct Options {
        var oldest = TLS1_2_VERSION
        var latest = TLS1_3_VERSION
        var asksForCertificate = false
        var requiresCertificate = false
        var ciphers: String?
        var groups: String?
        /// The one it chooses, whatever is offered; nil chooses none.
        var applicationProtocol: String? = "http/1.1"
        var tickets = 2
        var usesTickets = true
        /// Stapled to the certificate, as it is.
        var staple: String?
    }

    let context: OpaquePointer
    fileprivate let options: Options

    init(_ certificate: IssuedCertificate, _ options: Options = Options()) throws {
        context = try #require(SSL_CTX_new(TLS_server_method()))
        self.options = options
        try load(certificate)
        _ = dunlin_ctx_set_min_version(context, options.oldest)
        _ = dunlin_ctx_set_max_version(context, options.latest)
        if let ciphers = options.ciphers { #expect(SSL_CTX_set_cipher_list(context, ciphers) == 1) }
        if let groups = options.groups { #expect(dunlin_ctx_set_groups(context, groups) == 1) }
        if options.asksForCertificate || options.requiresCertificate {
            let mode = SSL_VERIFY_PEER | (options.requiresCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
            SSL_CTX_set_verify(context, mode, nil)
            // Anybody's certificate will do: the client is under test, not the server.
            SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
            if let certificate = SSL_CTX_get0_certificate(context) { SSL_CTX_add_client_CA(context, certificate) }
        }
        SSL_CTX_set_session_id_context(context, "test", 4)
        SSL_CTX_set_num_tickets(context, options.tickets)
        if !options.usesTickets { SSL_CTX_set_options(context, dunlin_op_no_ticket) }
        if options.staple != nil {
            _ = dunlin_ctx_set_status_callback(context) { ssl, _ in
                guard let ssl, let data = SSL_get_ex_data(ssl, stapleIndex) else { return SSL_TLSEXT_ERR_NOACK }
                let text = data.assumingMemoryBound(to: CChar.self)
                _ = dunlin_set_status_response(ssl, text, Int32(strlen(text)))
                return SSL_TLSEXT_ERR_OK
            }
        }
        SSL_CTX_set_alpn_select_cb(
            context,
            { ssl, chosen, length, _, _, _ in
                guard let choice = SSL_get_ex_data(ssl, 0) else { return SSL_TLSEXT_ERR_NOACK }
                let bytes = choice.assumingMemoryBound(to: UInt8.self)
                chosen?.pointee = UnsafePointer(bytes + 1)
                length?.pointee = bytes[0]
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    deinit { SSL_CTX_free(context) }

    private func load(_ certificate: IssuedCertificate) throws {
        let identity = Array((certificate.chainPEM + (try certificate.privateKeyPEM)).utf8)
        let bio = try #require(BIO_new_mem_buf(identity, Int32(identity.count)))
        defer { BIO_free(bio) }
        var number = 0
        while let one = PEM_read_bio_X509(bio, nil, nil, nil) {
            if number == 0 { SSL_CTX_use_certificate(context, one) } else { _ = dunlin_add_chain(context, one) }
            X509_free(one)
            number += 1
        }
        let other = try #require(BIO_new_mem_buf(identity, Int32(identity.count)))
        defer { BIO_free(other) }
        let key = try #require(PEM_read_bio_PrivateKey(other, nil, nil, nil))
        defer { EVP_PKEY_free(key) }
        #expect(SSL_CTX_use_PrivateKey(context, key) == 1)
        ERR_clear_error()
    }

    func connection() throws -> ServerEnd {
        try ServerEnd(self)
    }
}

/// Where a connection keeps the staple that it will send.
private let stapleIndex = dunlin_ssl_data_index()

/// The server's side of one connection, OpenSSL's own over memory: bytes in, bytes out.
final class ServerEnd {
    let ssl: OpaquePointer
    private let server: TestServer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let choice: UnsafeMutablePointer<UInt8>
    private var staple: UnsafeMutablePointer<CChar>?
    private(set) var received: [UInt8] = []
    private(set) var isClosedByPeer = false

    fileprivate init(_ server: TestServer) throws {
        self.server = server
        ssl = try #require(SSL_new(server.context))
        input = try #require(BIO_new(BIO_s_mem()))
        output = try #require(BIO_new(BIO_s_mem()))
        let name = Array((server.options.applicationProtocol ?? "").utf8)
        choice = .allocate(capacity: name.count + 1)
        choice[0] = UInt8(name.count)
        for (index, byte) in name.enumerated() { choice[index + 1] = byte }
        if server.options.applicationProtocol != nil { SSL_set_ex_data(ssl, 0, choice) }
        if let staple = server.options.staple {
            self.staple = strdup(staple)
            SSL_set_ex_data(ssl, stapleIndex, self.staple)
        }
        SSL_set_bio(ssl, input, output)
        SSL_set_accept_state(ssl)
    }

    deinit {
        // Or OpenSSL would forget the session.
        SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(ssl)
        choice.deallocate()
        free(staple)
    }

    var isOpen: Bool { SSL_is_init_finished(ssl) == 1 }
    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    var peerCertificate: Bytes? {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return nil }
        var start: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_X509(certificate, &start))
        defer { dunlin_free(start) }
        return Bytes(UnsafeBufferPointer(start: start, count: count))
    }

    /// The name the client asked for.
    var serverName: String? {
        SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    }

    func receive(_ bytes: [UInt8]) {
        if !bytes.isEmpty { BIO_write(input, bytes, Int32(bytes.count)) }
        advance()
    }

    /// Goes on as far as it can.
    func advance() {
        ERR_clear_error()
        defer { ERR_clear_error() }
        if !isOpen, SSL_do_handshake(ssl) != 1 { return }
        var block = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = SSL_read(ssl, &block, Int32(block.count))
            if count > 0 {
                received += block[..<Int(count)]
            } else {
                if SSL_get_error(ssl, count) == SSL_ERROR_ZERO_RETURN { isClosedByPeer = true }
                return
            }
        }
    }

    func send(_ bytes: [UInt8]) {
        #expect(SSL_write(ssl, bytes, Int32(bytes.count)) == Int32(bytes.count))
        ERR_clear_error()
    }

    func close() {
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    func updateKeys(asking: Bool) {
        let kind = asking ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED
        #expect(SSL_key_update(ssl, kind) == 1)
        #expect(SSL_do_handshake(ssl) == 1)
    }

    func renegotiate() {
        SSL_renegotiate(ssl)
        SSL_do_handshake(ssl)
        ERR_clear_error()
    }

    func takeOutput() -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 16_384)
        while case let count = BIO_read(output, &block, Int32(block.count)), count > 0 { bytes += block[..<Int(count)] }
        return bytes
    }
}
