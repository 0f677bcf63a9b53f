internal import COpenSSL
package import DunlinTypes

/// Certificates that are believed without being signed by others, parsed once.
// SAFETY: the store is filled in `init` and never changed. OpenSSL counts its references and locks its look-ups, so any
// number of verifications may use it at once.
package final class TrustStore: @unchecked Sendable {
    let pointer: OpaquePointer
    /// Of all certificates in it, in no particular order.
    package let digest: Fingerprint
    package let count: Int

    package init(_ certificates: some Collection<Certificate>) throws(TrustSetupError) {
        guard let store = X509_STORE_new() else { throw .contradiction("out of memory") }
        pointer = store
        var digests: Set<Fingerprint> = []
        for certificate in certificates {
            guard let parsed = ParsedCertificate(der: certificate.der), X509_STORE_add_cert(store, parsed.pointer) == 1,
                let digest = X509Reading.fingerprint(certificate.der)
            else {
                OpenSSLErrors.clear()
                X509_STORE_free(store)
                throw .notACertificate(source: "a root", problem: "it cannot be read")
            }
            digests.insert(digest)
        }
        count = digests.count
        digest = X509Reading.fingerprint(Bytes(digests.sorted().flatMap(\.bytes))) ?? .zero
    }

    deinit { X509_STORE_free(pointer) }
}
