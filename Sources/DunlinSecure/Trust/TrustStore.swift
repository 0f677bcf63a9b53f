internal import COpenSSL
package import DunlinTypes
internal import Synchronization

/// Certificates that are believed without being signed by others.
///
/// Each of them is an anchor, whoever signed it: whoever was given an intermediate to believe believes it.
///
/// Rules:
/// 1. A system believes in a hundred and forty roots, and a chain asks for one of them. So they are kept as bytes and
///    found by their subjects, and OpenSSL reads those that a chain asks for: each takes it a tenth of a millisecond,
///    most of it for the key, and five kilobytes.
/// 2. What is read stays in OpenSSL's store. Before a path is built, all is read that OpenSSL may look for there: who
///    goes by the name of a subject or an issuer of what the server sent, and the issuers of these in turn. All of one
///    name are read at once and in their order, so that OpenSSL finds what it would find if it had all of them.
/// 3. One that OpenSSL cannot read is left out, as if it were not there.
/// 4. A server that names all of them has all of them read, which is done once and takes less time than the signatures
///    that it may have checked (`PathFinder.Limits`).
// SAFETY: OpenSSL counts references and locks the look-ups and additions of a store, so any number of verifications may
// use it at once; nothing is taken out of it. All else is constant or under the lock.
package final class TrustStore: @unchecked Sendable {
    let pointer: OpaquePointer
    private let roots: [Root]
    /// Where those of a name are, by the name's hash.
    private let indices: [UInt: [Int]]
    /// Those that were asked for, by the hash of their names. With a name those of its issuers are here as well.
    /// OpenSSL sorts those in its store when it first looks for one: nobody else may look there.
    private let read = Mutex<[UInt: X509Path]>([:])
    private let digests: Set<Certificate.Fingerprint>
    /// The digest of all certificates, regardless of order.
    package let digest: Certificate.Fingerprint

    package var count: Int { roots.count }

    package convenience init(_ certificates: some Collection<Certificate>) throws(NetworkError.TrustConfigurationError)
    {
        try self.init(certificates, and: nil)
    }

    /// These as well as those of another store.
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
        guard let store = X509_STORE_new() else { throw .contradiction("out of memory") }
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

    /// Reads what OpenSSL may look for when it builds a path from these. They stay the caller's.
    func read(for leaf: OpaquePointer, sent: OpaquePointer?) {
        let names = ([leaf] + X509Path.pointers(sent)).flatMap {
            [X509Reading.hash(of: X509_get_subject_name($0)), X509Reading.hash(of: X509_get_issuer_name($0))]
        }
        read.withLock { read(names, into: &$0) }
    }

    /// They stay the store's.
    func certificates(named name: OpaquePointer?) -> [OpaquePointer] {
        let hash = X509Reading.hash(of: name)
        let found = read.withLock { known in
            read([hash], into: &known)
            return known[hash]
        }
        return found?.pointers.filter { X509_NAME_cmp(X509_get_subject_name($0), name) == 0 } ?? []
    }

    /// For tests: how many were read.
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
