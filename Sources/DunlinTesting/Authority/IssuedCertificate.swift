internal import COpenSSL
public import DunlinTypes

/// A certificate, what belongs between it and its root, and its key.
public struct IssuedCertificate: Sendable {
    public let der: Bytes
    /// From the one that signed this certificate upwards, without the root.
    public var intermediates: [Bytes]
    public var key: CertificateAuthority.Key
    let serial: [UInt8]
    /// Seconds since 1970.
    public let notBefore: Int
    public let notAfter: Int

    /// What a server sends.
    public var chain: [Bytes] { [der] + intermediates }

    public var pem: String { PEM.text("CERTIFICATE", der) }

    public var chainPEM: String { chain.map { PEM.text("CERTIFICATE", $0) }.joined() }

    /// PKCS#8.
    public var privateKeyPEM: String {
        get throws(AuthorityError) { try key.pem }
    }

    /// `sha256/…`, as pins are written.
    public var pin: String {
        get throws(AuthorityError) { try key.pin }
    }

    /// SHA-256 of the whole certificate.
    public var fingerprint: Bytes {
        get throws(AuthorityError) { Bytes(try Digest.sha256(der)) }
    }
}

extension IssuedCertificate {
    /// As a server sends it that forgot its intermediates.
    public var withoutIntermediates: Self { changed { $0.intermediates = [] } }

    /// With other certificates between this one and the root: too many, in the wrong order, somebody else's.
    public func with(intermediates: [Bytes]) -> Self { changed { $0.intermediates = intermediates } }

    /// With a key that is not its own: whoever loads the two together should notice.
    public func with(_ key: CertificateAuthority.Key) -> Self { changed { $0.key = key } }

    /// With a key that passes for its own and signs wrongly, so that a server loads it and every handshake fails.
    /// Only for P-256.
    public func withForgedKey() throws(AuthorityError) -> Self { with(try key.forged()) }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var certificate = self
        change(&certificate)
        return certificate
    }
}

extension IssuedCertificate {
    /// Certificate, intermediates and key in one file (RFC 7292). The key has to fit.
    public func pkcs12(passphrase: String, name: String = "dunlin") throws(AuthorityError) -> Bytes {
        let key = try key.open()
        let certificate = try OpenCertificate(der)
        guard let stack = dunlin_certificates_new() else { throw AuthorityError(.exporting) }
        defer { dunlin_certificates_free(stack) }
        for each in intermediates {
            // The stack has the only reference from here on.
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

/// OpenSSL's own form of a certificate, for as long as something is done with it.
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
