internal import COpenSSL
internal import DunlinTypes

/// The certificates that a server sent and the anchors that may be above them, as a graph.
///
/// Rules:
/// 1. One has issued another if names and key identifiers say so, if it may sign certificates at all, and if its key
///    made the signature. Anybody can write a name; a search that went by names alone would be led astray.
/// 2. Anchors come before what was sent, and what is valid now before what is not: the path that is found first is most
///    likely the right one.
/// 3. Signatures are what costs, and the server says how many there are to check. So they are counted, those of paths
///    that were verified too, and when `signatureLimit` of them have been checked, nobody has issued anything any more.
final class KnownCertificates: CertificateGraph {
    /// References to the certificates, the server's own first.
    private let certificates: X509Path
    private var pointers: [OpaquePointer] = []
    private let sent: [Int]
    private var anchors: Set<Int> = []
    private var issuers: [Int: [Int]] = [:]
    private var confirmed: [Int: [Int: Bool]] = [:]
    private let source: AnchorSource
    private let time: Int64?
    private let signatureLimit: Int
    private(set) var signatures = 0

    /// Creates the graph; `time` is in seconds since 1970, nil if it does not matter. Nil if memory is short.
    init?(leaf: OpaquePointer, sent: OpaquePointer?, _ source: AnchorSource, at time: Int64?, signatureLimit: Int) {
        guard let certificates = X509Path() else { return nil }
        self.certificates = certificates
        self.source = source
        self.time = time
        self.signatureLimit = signatureLimit
        var seen: Set<Bytes> = []
        for pointer in [leaf] + X509Path.pointers(sent) {
            guard let der = X509Reading.der(pointer), seen.insert(der).inserted else { continue }
            certificates.append(pointer)
        }
        pointers = certificates.pointers
        guard pointers.first == leaf else { return nil }
        self.sent = Array(pointers.indices.dropFirst())
        if source.certificates(named: X509_get_subject_name(leaf)).contains(where: { X509_cmp($0, leaf) == 0 }) {
            anchors.insert(0)
        }
    }

    subscript(certificate: Int) -> OpaquePointer { pointers[certificate] }

    func isAnchor(_ certificate: Int) -> Bool { anchors.contains(certificate) }

    func isSameHolder(_ one: Int, _ other: Int) -> Bool {
        let (one, other) = (pointers[one], pointers[other])
        return X509_NAME_cmp(X509_get_subject_name(one), X509_get_subject_name(other)) == 0
            && EVP_PKEY_eq(X509_get0_pubkey(one), X509_get0_pubkey(other)) == 1
    }

    func issuers(of certificate: Int) -> [Int] {
        if let known = issuers[certificate] { return known }
        let subject = pointers[certificate]
        let above = source.certificates(named: X509_get_issuer_name(subject)).map(number)
        // An anchor that was also sent counts as the anchor.
        let others = sent.filter { one in !above.contains { X509_cmp(pointers[$0], pointers[one]) == 0 } }
        let found = (validFirst(above) + validFirst(others)).filter {
            X509_check_issued(pointers[$0], subject) == X509_V_OK
        }
        issuers[certificate] = found
        return found
    }

    /// Counts the signatures of a verified path: each certificate except the anchor is signed by the next.
    func noteVerification(of path: [Int]) { signatures += path.count - 1 }

    private func number(of anchor: OpaquePointer) -> Int {
        if let known = anchors.first(where: { pointers[$0] == anchor }) { return known }
        certificates.append(anchor)
        pointers.append(anchor)
        anchors.insert(pointers.count - 1)
        return pointers.count - 1
    }

    private func validFirst(_ certificates: [Int]) -> [Int] {
        guard let time else { return certificates }
        let isValid = { (certificate: Int) in X509Reading.validity(self.pointers[certificate]).contains(time) }
        return certificates.filter(isValid) + certificates.filter { !isValid($0) }
    }

    func isConfirmed(_ issuer: Int, asIssuerOf certificate: Int) -> Bool {
        if let known = confirmed[certificate]?[issuer] { return known }
        guard signatures < signatureLimit else { return false }
        signatures += 1
        let isIssuer = X509_verify(pointers[certificate], X509_get0_pubkey(pointers[issuer])) == 1
        OpenSSLErrors.clear()
        confirmed[certificate, default: [:]][issuer] = isIssuer
        return isIssuer
    }
}

/// Where anchors are looked up by their names.
struct AnchorSource {
    let anchors: PathVerifier.Anchors

    /// Returns the anchors with a name. They belong to the source, which must be kept.
    func certificates(named name: OpaquePointer?) -> [OpaquePointer] {
        switch anchors {
        case .store(let store): store.certificates(named: name)
        case .these(let path):
            path.pointers.filter { X509_NAME_cmp(X509_get_subject_name($0), name) == 0 }
        }
    }
}
