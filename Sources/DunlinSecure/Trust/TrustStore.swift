internal import COpenSSL
package import DunlinTypes

/// Certificates that are believed without being signed by others, parsed once.
///
/// Each of them is an anchor, whoever signed it: whoever was given an intermediate to believe believes it.
// SAFETY: the store and the list are filled in `init` and never changed. OpenSSL counts references and locks the
// look-ups of a store, so any number of verifications may use both at once.
package final class TrustStore: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The same certificates. OpenSSL sorts those in a store when it first looks for one: nobody else may look there.
    private let list: X509Path
    private let digests: Set<Certificate.Fingerprint>
    /// Of all certificates in it, in no particular order.
    package let digest: Certificate.Fingerprint

    package var count: Int { digests.count }

    package convenience init(_ certificates: some Collection<Certificate>) throws(NetworkError.TrustConfigurationError)
    {
        try self.init(certificates, and: nil)
    }

    /// These as well as those of another store, which are not parsed again.
    package init(_ certificates: some Collection<Certificate>, and other: TrustStore?) throws(NetworkError
        .TrustConfigurationError)
    {
        guard let list = X509Path(), let store = X509_STORE_new() else { throw .contradiction("out of memory") }
        self.list = list
        pointer = store
        var digests = other?.digests ?? []
        var isWhole = true
        for known in other?.list.pointers ?? [] {
            isWhole = isWhole && X509_STORE_add_cert(store, known) == 1
            list.append(known)
        }
        for certificate in certificates {
            guard let parsed = ParsedCertificate(der: certificate.der),
                let digest = X509Reading.fingerprint(certificate.der)
            else {
                isWhole = false
                break
            }
            guard digests.insert(digest).inserted else { continue }
            isWhole = isWhole && X509_STORE_add_cert(store, parsed.pointer) == 1
            list.append(parsed.pointer)
        }
        self.digests = digests
        digest = X509Reading.fingerprint(Bytes(digests.sorted().flatMap(\.bytes))) ?? .zero
        guard isWhole else {
            OpenSSLErrors.clear()
            throw .notACertificate(source: "a root", problem: "it cannot be read")
        }
    }

    deinit { X509_STORE_free(pointer) }

    /// They stay the store's.
    func certificates(named name: OpaquePointer?) -> [OpaquePointer] {
        list.pointers.filter { X509_NAME_cmp(X509_get_subject_name($0), name) == 0 }
    }
}
