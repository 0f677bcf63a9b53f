internal import COpenSSL
package import DunlinTypes
internal import Synchronization

/// Certificates that are trusted without another's signature.
///
/// Each of them is an anchor, whoever signed it: an intermediate needs no root.
///
/// Rules:
/// 1. A system trusts a hundred and forty roots, and a chain needs one of them. So roots are kept as bytes and found by
///    their subjects, and OpenSSL parses only those that a chain needs: each costs a tenth of a millisecond, mostly for
///    the key, and five kilobytes.
/// 2. Parsed roots stay in OpenSSL's store. Before a path is built, all roots are parsed that OpenSSL may look for:
///    those named like a subject or an issuer of a certificate that the server sent, and the issuers of these in turn.
///    All roots with one name are parsed at once and in order, so OpenSSL finds what it would find if it had all of
///    them.
/// 3. A root that OpenSSL cannot parse counts as missing.
/// 4. A server that names all roots causes all of them to be parsed, which happens once and takes less time than the
///    signatures that it may have checked (`PathFinder.Limits`).
// SAFETY: OpenSSL counts references and locks the look-ups and additions of a store, so any number of verifications may
// use it at once; nothing is taken out of it. All else is constant or under the lock.
package final class TrustStore: @unchecked Sendable {
    let pointer: OpaquePointer
    private let roots: [Root]
    /// The indices of the roots with a name, by the name's hash.
    private let indices: [UInt: [Int]]
    /// The parsed roots, by the hash of their names. If a name is here, so are those of its issuers. OpenSSL sorts the
    /// roots in its store when it first looks for one, so nobody else may look there.
    private let read = Mutex<[UInt: X509Path]>([:])
    private let digests: Set<Certificate.Fingerprint>
    /// The digest of all certificates, regardless of order.
    package let digest: Certificate.Fingerprint

    package var count: Int { roots.count }

    package convenience init(_ certificates: some Collection<Certificate>) throws(NetworkError.TrustConfigurationError)
    {
        try self.init(certificates, and: nil)
    }

    /// Creates a store of these certificates and another store's.
    package convenience init(_ certificates: some Collection<Certificate>, and other: TrustStore?) throws(NetworkError
        .TrustConfigurationError)
    {
        let roots = certificates.compactMap { Root(der: $0.der) }
        guard roots.count == certificates.count else {
            throw .notACertificate(source: "a root", problem: "it cannot be read")
        }
        try self.init(roots, and: other)
    }

    init(_ new: [Root], and other: TrustStore? = nil) throws(NetworkError.TrustConfigurationError) {
        guard let store = X509_STORE_new() else { throw .contradiction("there is no memory for the trusted roots") }
        pointer = store
        var roots = other?.roots ?? []
        var indices = other?.indices ?? [:]
        var digests = other?.digests ?? []
        for root in new {
            guard let digest = X509Reading.fingerprint(root.der), digests.insert(digest).inserted else { continue }
            indices[root.subject, default: []].append(roots.count)
            roots.append(root)
        }
        self.roots = roots
        self.indices = indices
        self.digests = digests
        digest = X509Reading.fingerprint(Bytes(digests.sorted().flatMap(\.bytes))) ?? .zero
    }

    deinit { X509_STORE_free(pointer) }

    /// Parses the roots that OpenSSL may look for when it builds a path from these certificates, which remain the
    /// caller's.
    func read(for leaf: OpaquePointer, sent: OpaquePointer?) {
        let names = ([leaf] + X509Path.pointers(sent)).flatMap {
            [X509Reading.hash(of: X509_get_subject_name($0)), X509Reading.hash(of: X509_get_issuer_name($0))]
        }
        read.withLock { read(names, into: &$0) }
    }

    /// Returns the certificates with a name, which remain the store's.
    func certificates(named name: OpaquePointer?) -> [OpaquePointer] {
        let hash = X509Reading.hash(of: name)
        let found = read.withLock { known in
            read([hash], into: &known)
            return known[hash]
        }
        return found?.pointers.filter { X509_NAME_cmp(X509_get_subject_name($0), name) == 0 } ?? []
    }

    /// The number of parsed roots, for tests.
    var readCount: Int { read.withLock { $0.values.reduce(0) { $0 + $1.pointers.count } } }

    private func read(_ names: [UInt], into known: inout [UInt: X509Path]) {
        var names = names
        while let name = names.popLast() {
            guard known[name] == nil, let indices = indices[name], let path = X509Path() else { continue }
            for index in indices {
                guard let parsed = ParsedCertificate(der: roots[index].der),
                    X509_STORE_add_cert(pointer, parsed.pointer) == 1
                else { continue }
                path.append(parsed.pointer)
            }
            known[name] = path
            names += path.pointers.map { X509Reading.hash(of: X509_get_issuer_name($0)) }
        }
        OpenSSLErrors.clear()
    }
}
