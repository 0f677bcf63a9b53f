internal import COpenSSL
package import DunlinTypes

/// What a file of pins may hold: certificates, or public keys alone.
package enum PinFile {
    package struct Contents: Sendable, Hashable {
        package var certificates: [Certificate] = []
        /// The digests of SubjectPublicKeyInfo.
        package var keys: [Certificate.Fingerprint] = []
    }

    /// Returns the contents. Throws if there are none, or if a part is invalid. `source` names the file in errors.
    package static func contents(of bytes: Bytes, source: String) throws(NetworkError.TrustConfigurationError)
        -> Contents
    {
        var contents = Contents()
        guard PEM.isPEM(bytes) else {
            contents.certificates = try CertificateFile.certificates(in: bytes, source: source)
            return contents
        }
        for block in try CertificateFile.blocks(of: bytes, source: source) {
            if block.label == "PUBLIC KEY" {
                guard let key = publicKey(block.bytes) else {
                    throw .contradiction("\(source) cannot be used for pins: a public key in it cannot be read")
                }
                contents.keys.append(key)
            } else {
                let number = contents.certificates.count + 1
                contents.certificates.append(try CertificateFile.certificate(block, number: number, source: source))
            }
        }
        return contents
    }

    /// Returns the digest of a SubjectPublicKeyInfo in DER; nil if it is invalid.
    static func publicKey(_ der: Bytes) -> Certificate.Fingerprint? {
        defer { OpenSSLErrors.clear() }
        var used = 0
        let key = der.withUnsafeBytes {
            dunlin_public_key_decode($0.bindMemory(to: UInt8.self).baseAddress, $0.count, &used)
        }
        guard let key else { return nil }
        EVP_PKEY_free(key)
        return used == der.count ? X509Reading.fingerprint(der) : nil
    }
}
