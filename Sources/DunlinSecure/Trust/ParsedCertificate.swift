internal import COpenSSL
package import DunlinTypes

/// A parsed certificate, which owns one reference of an `X509`.
struct ParsedCertificate: ~Copyable {
    let pointer: OpaquePointer

    /// Parses a certificate; nil unless `der` is exactly one.
    init?(der: borrowing Bytes) {
        var used = 0
        let count = der.count
        let parsed = der.withUnsafeBytes { bytes in
            dunlin_certificate_decode(bytes.bindMemory(to: UInt8.self).baseAddress, count, &used)
        }
        guard let parsed else {
            OpenSSLErrors.clear()
            return nil
        }
        // A key that cannot be read can neither be checked nor pinned.
        guard used == count, X509_get0_pubkey(parsed) != nil else {
            OpenSSLErrors.clear()
            X509_free(parsed)
            return nil
        }
        pointer = parsed
    }

    deinit { X509_free(pointer) }
}

extension Certificate {
    /// Reads a certificate; nil unless `der` is exactly one.
    package init?(der: Bytes) {
        guard let parsed = ParsedCertificate(der: der) else { return nil }
        self.init(der, of: parsed.pointer)
    }

    /// Reads an `X509` that somebody else owns; nil if memory is short.
    init?(_ pointer: OpaquePointer) {
        guard let der = X509Reading.der(pointer) else { return nil }
        self.init(der, of: pointer)
    }

    private init(_ der: Bytes, of pointer: OpaquePointer) {
        let validity = X509Reading.validity(pointer)
        self.init(der: der, validFrom: validity.from, validUntil: validity.until) { der in
            guard let parsed = ParsedCertificate(der: der) else { return .unreadable }
            return X509Reading.details(parsed.pointer)
        }
    }
}

extension Certificate.Details {
    /// The details of a certificate with an unknown kind of key, which OpenSSL accepts in a handshake.
    static let unreadable = Certificate.Details(
        subject: "unreadable", issuer: "unreadable", names: [], serialNumber: "", notBefore: 0, notAfter: 0,
        fingerprint: .zero, publicKey: .zero, key: "unknown", signature: "unknown", isAuthority: false)
}
