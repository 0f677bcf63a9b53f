internal import DunlinTypes

/// The time in which all certificates of a path are valid, in Unix time, including the last second (RFC 5280 §4.1.2.5).
struct PathValidity: Sendable, Equatable {
    var from: Int64
    var until: Int64

    static let always = PathValidity(from: .min, until: .max)

    init(from: Int64, until: Int64) {
        self.from = from
        self.until = until
    }

    init(of path: [Certificate]) {
        self = .always
        narrow(to: path)
    }

    mutating func narrow(to path: [Certificate]) {
        for certificate in path {
            from = max(from, certificate.validFrom)
            until = min(until, certificate.validUntil)
        }
    }

    func contains(_ now: Int64) -> Bool { from <= now && now <= until }
}
