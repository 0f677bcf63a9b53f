internal import COpenSSL
internal import DunlinTypes

/// When all certificates of a path are valid, in Unix time. Nothing else of them is read: it is asked for once in each
/// full handshake that leaves a session.
struct PathValidity: Sendable, Equatable {
    var from: Int64
    var until: Int64

    static let always = PathValidity(from: .min, until: .max)

    init(from: Int64, until: Int64) {
        self.from = from
        self.until = until
    }

    /// A certificate that cannot be read is never valid.
    init(of path: [Certificate]) {
        self = .always
        for certificate in path {
            guard let parsed = ParsedCertificate(der: certificate.der) else {
                until = .min
                return
            }
            from = max(from, X509Reading.seconds(X509_get0_notBefore(parsed.pointer)))
            until = min(until, X509Reading.seconds(X509_get0_notAfter(parsed.pointer)))
        }
    }

    func contains(_ now: Int64) -> Bool { from <= now && now <= until }
}
