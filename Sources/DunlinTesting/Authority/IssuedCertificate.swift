internal import COpenSSL
public import DunlinTypes

/// A certificate, the intermediates between it and its root, and its key.
public struct IssuedCertificate: Sendable {
    public let der: Bytes
    /// The intermediates, from the one that signed this certificate upwards, without the root.
    public var intermediates: [Bytes]
    public var key: CertificateAuthority.Key
    let serial: [UInt8]
    /// The beginning of validity, in seconds since 1970.
    public let notBefore: Int
    public let notAfter: Int

    /// The certificates that a server sends.
    public var chain: [Bytes] { [der] + intermediates }

    public var pem: String { PEM.text("CERTIFICATE", der) }

    public var chainPEM: String { chain.map { PEM.text("CERTIFICATE", $0) }.joined() }

    /// The private key in PKCS#8, as PEM.
    public var privateKeyPEM: String {
        get throws(AuthorityError) { try key.pem }
    }

    /// The certificate's pin: `sha256/…`.
    public var pin: String {
        get throws(AuthorityError) { try key.pin }
    }

    /// The SHA-256 digest of the whole certificate.
    public var fingerprint: Bytes {
        get throws(AuthorityError) { Bytes(try Digest.sha256(der)) }
    }
}

extension IssuedCertificate {
    /// A copy without intermediates, as a server sends it that has forgotten them.
    public var withoutIntermediates: Self { changed { $0.intermediates = [] } }

    /// Returns a copy with other intermediates: too many, in the wrong order, or somebody else's.
    public func with(intermediates: [Bytes]) -> Self { changed { $0.intermediates = intermediates } }

    /// Returns a copy with a key that is not its own; loading the two together should fail.
    public func with(_ key: CertificateAuthority.Key) -> Self { changed { $0.key = key } }

    /// Returns a copy with a key that passes for its own and signs wrongly, so that a server loads it and every
    /// handshake fails. Only for P-256.
    public func withForgedKey() throws(AuthorityError) -> Self { with(try key.forged()) }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var certificate = self
        change(&certificate)
        return certificate
    }
}

extension IssuedCertificate {
    /// Returns certificate, intermediates and key in one file (RFC 7292). The key must fit.
    public func pkcs12(passphrase: String, name: String = "dunlin") throws(AuthorityError) -> Bytes {
        let key = try key.open()
        let certificate = try OpenCertificate(der)
        guard let stack = dunlin_certificates_new() else { throw AuthorityError(.exporting) }
        defer { dunlin_certificates_free(stack) }
        for each in intermediates {
            // The stack owns the only reference from here on.
            _ = dunlin_certificates_push(stack, try OpenCertificate(each).release())
        }
        guard
            let store = PKCS12_create(
                passphrase, name, key.pointer, certificate.pointer, stack, 0, 0, 0, 0, 0)
        else { throw AuthorityError(.exporting) }
        defer { PKCS12_free(store) }
        return Bytes(try OpenKey.written(.exporting) { i2d_PKCS12(store, &$0) })
    }
}

/// OpenSSL's representation of a certificate, while it is in use.
struct OpenCertificate: ~Copyable {
    let pointer: OpaquePointer

    deinit { X509_free(pointer) }

    init(_ der: Bytes) throws(AuthorityError) {
        let pointer = der.span.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_X509(nil, &start, bytes.count)
        }
        guard let pointer else { throw AuthorityError(.exporting) }
        self.pointer = pointer
    }

    /// Gives the reference away.
    consuming func release() -> OpaquePointer {
        let pointer = pointer
        discard self
        return pointer
    }
}
