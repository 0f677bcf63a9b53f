internal import COpenSSL
internal import DunlinTypes

/// Takes certificates and keys out of PEM and PKCS#12, and says why it cannot. Never asks a terminal for a passphrase,
/// as OpenSSL would.
enum IdentityReader {
    static func certificates(in pem: Bytes) throws(IdentityError) -> [Owned] {
        try withBIO(over: pem) { bio throws(IdentityError) in
            var certificates: [Owned] = []
            while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
                certificates.append(Owned(certificate) { X509_free($0) })
            }
            let code = OpenSSLErrors.takeLast()
            let isEnd = dunlin_error_library(code) == ERR_LIB_PEM && dunlin_error_reason(code) == PEM_R_NO_START_LINE
            guard isEnd else { throw .malformed(OpenSSLErrors.words(code)) }
            return certificates
        }
    }

    static func privateKey(in pem: Bytes, _ passphrase: String?) throws(IdentityError) -> Owned {
        var answer = Passphrase(text: passphrase.map { Array($0.utf8) })
        let key = try withBIO(over: pem) { bio throws(IdentityError) in
            withUnsafeMutablePointer(to: &answer) {
                PEM_read_bio_PrivateKey(
                    bio, nil, { buffer, size, _, user in IdentityReader.tell(buffer, size, user) }, $0)
            }
        }
        let code = OpenSSLErrors.takeLast()
        if let key { return Owned(key) { EVP_PKEY_free($0) } }
        if answer.wasAsked { throw passphrase == nil ? .passphraseNeeded : .wrongPassphrase }
        // OpenSSL says the same of a key that is not there and of one that it does not understand.
        throw String(pem).contains("PRIVATE KEY-----") ? .malformed(OpenSSLErrors.words(code)) : .noKey
    }

    static func pkcs12(_ der: Bytes, _ passphrase: String?) throws(IdentityError) -> ([Owned], Owned) {
        let store = try withBIO(over: der) { bio throws(IdentityError) in d2i_PKCS12_bio(bio, nil) }
        guard let store else { throw .malformed(OpenSSLErrors.words(OpenSSLErrors.takeLast())) }
        defer { PKCS12_free(store) }
        let opens =
            PKCS12_verify_mac(store, passphrase, -1) == 1
            || (passphrase == nil && PKCS12_verify_mac(store, "", 0) == 1)
        guard opens || PKCS12_mac_present(store) != 1 else {
            OpenSSLErrors.clear()
            throw passphrase == nil ? .passphraseNeeded : .wrongPassphrase
        }
        var key: OpaquePointer?
        var certificate: OpaquePointer?
        var others: OpaquePointer?
        let code = PKCS12_parse(store, passphrase ?? "", &key, &certificate, &others)
        let privateKey = key.map { Owned($0) { EVP_PKEY_free($0) } }
        var certificates = certificate.map { [Owned($0) { X509_free($0) }] } ?? []
        certificates += unpack(others)
        guard code == 1 else { throw .malformed(OpenSSLErrors.words(OpenSSLErrors.takeLast())) }
        guard let privateKey else { throw .noKey }
        return (certificates, privateKey)
    }

    /// Returns the stack's certificates, and frees the stack.
    private static func unpack(_ stack: OpaquePointer?) -> [Owned] {
        guard let stack else { return [] }
        defer { dunlin_certificates_drop(stack) }
        return (0..<dunlin_certificate_count(stack)).compactMap { index in
            dunlin_certificate_at(stack, index).map { Owned($0) { X509_free($0) } }
        }
    }

    private static func withBIO<Result>(
        over bytes: Bytes, _ body: (OpaquePointer) throws(IdentityError) -> Result
    ) throws(IdentityError) -> Result {
        OpenSSLErrors.clear()
        return try bytes.withUnsafeBytes { buffer throws(IdentityError) in
            guard let count = Int32(exactly: buffer.count), let bio = BIO_new_mem_buf(buffer.baseAddress, count) else {
                throw .malformed("it is empty or too large")
            }
            defer { BIO_free(bio) }
            return try body(bio)
        }
    }

    private struct Passphrase {
        var text: [UInt8]?
        var wasAsked = false
    }

    /// Gives OpenSSL the passphrase; minus one if there is none.
    private static func tell(
        _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ user: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let answer = user?.assumingMemoryBound(to: Passphrase.self) else { return -1 }
        answer.pointee.wasAsked = true
        guard let buffer, let text = answer.pointee.text, text.count <= Int(size) else { return -1 }
        UnsafeMutableRawBufferPointer(start: buffer, count: Int(size)).copyBytes(from: text)
        return Int32(text.count)
    }
}
