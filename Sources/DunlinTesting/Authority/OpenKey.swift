internal import COpenSSL

/// OpenSSL's representation of a key pair, while it is in use.
struct OpenKey: ~Copyable {
    let pointer: OpaquePointer

    deinit { EVP_PKEY_free(pointer) }

    init(reading secret: [UInt8]) throws(AuthorityError) {
        let pointer = secret.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        guard let pointer else { throw AuthorityError(.readingKey) }
        self.pointer = pointer
    }

    init(generating kind: CertificateAuthority.Key.Kind) throws(AuthorityError) {
        let (name, group, size) = Self.parameters(kind)
        guard let context = EVP_PKEY_CTX_new_from_name(nil, name, nil) else { throw AuthorityError(.makingKey) }
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            group.map({ EVP_PKEY_CTX_set_group_name(context, $0) == 1 }) ?? true,
            size.map({ EVP_PKEY_CTX_set_rsa_keygen_bits(context, $0) == 1 }) ?? true,
            EVP_PKEY_generate(context, &made) == 1, let made
        else { throw AuthorityError(.makingKey) }
        pointer = made
    }

    private static func parameters(
        _ kind: CertificateAuthority.Key.Kind
    ) -> (name: String, group: String?, size: Int32?) {
        switch kind {
        case .p256: ("EC", "P-256", nil)
        case .p384: ("EC", "P-384", nil)
        case .ed25519: ("ED25519", nil, nil)
        case .rsa1024: ("RSA", nil, 1024)
        case .rsa2048: ("RSA", nil, 2048)
        case .rsa3072: ("RSA", nil, 3072)
        }
    }

    func secret() throws(AuthorityError) -> [UInt8] {
        try Self.written(.writingKey) { i2d_PrivateKey(pointer, &$0) }
    }

    func publicKeyInfo() throws(AuthorityError) -> [UInt8] {
        try Self.written(.writingKey) { i2d_PUBKEY(pointer, &$0) }
    }

    func publicBits() throws(AuthorityError) -> [UInt8] {
        var info: OpaquePointer?
        guard X509_PUBKEY_set(&info, pointer) == 1 else { throw AuthorityError(.writingKey) }
        defer { X509_PUBKEY_free(info) }
        var bytes: UnsafePointer<UInt8>?
        var count: Int32 = 0
        guard X509_PUBKEY_get0_param(nil, &bytes, &count, nil, info) == 1 else { throw AuthorityError(.writingKey) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    func pem(passphrase: String?) throws(AuthorityError) -> String {
        guard let output = BIO_new(BIO_s_mem()) else { throw AuthorityError(.writingKey) }
        defer { BIO_free(output) }
        let isWritten =
            if let passphrase {
                PEM_write_bio_PKCS8PrivateKey(
                    output, pointer, EVP_aes_256_cbc(), passphrase, Int32(passphrase.utf8.count), nil, nil)
            } else {
                PEM_write_bio_PKCS8PrivateKey(output, pointer, nil, nil, 0, nil, nil)
            }
        guard isWritten == 1 else { throw AuthorityError(.writingKey) }
        return String(decoding: Self.drain(output), as: UTF8.self)
    }

    func sign(_ message: [UInt8], _ digest: SignatureDigest) throws(AuthorityError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { throw AuthorityError(.signing) }
        defer { EVP_MD_CTX_free(context) }
        // Ed25519 hashes by itself.
        let function = EVP_PKEY_get_base_id(pointer) == EVP_PKEY_ED25519 ? nil : digest.function
        var count = 0
        guard EVP_DigestSignInit(context, nil, function, nil, pointer) == 1,
            EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { throw AuthorityError(.signing) }
        var isSigned = false
        let signature = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            isSigned = EVP_DigestSign(context, buffer.baseAddress, &count, message, message.count) == 1
            filled = isSigned ? count : 0
        }
        guard isSigned else { throw AuthorityError(.signing) }
        return signature
    }

    /// The bytes that an i2d function writes into its own memory.
    static func written(
        _ operation: AuthorityError.Operation, _ write: (inout UnsafeMutablePointer<UInt8>?) -> Int32
    ) throws(AuthorityError) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = write(&bytes)
        guard count >= 0, let bytes else { throw AuthorityError(operation) }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// The contents of a memory BIO.
    private static func drain(_ output: OpaquePointer) -> [UInt8] {
        let count = BIO_ctrl_pending(output)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(Int(BIO_read(output, buffer.baseAddress, Int32(clamping: count))), 0)
        }
    }
}
