// Which paths lead from a server's certificate to an anchor, one after the other.
//
// It knows numbers: who may have issued which certificate, who did, and who is an anchor, somebody else says. It must
// not know OpenSSL, nor whether a path is any good.
//
// Rules:
// 1. Depth first: a path is gone on with until it ends at an anchor or can lead nowhere. Among those that may have
//    issued a certificate the order is the caller's.
// 2. A path ends at the first anchor. Nobody believes more for what is above.
// 3. Nobody is on a path twice, under whichever certificate: a subject with its key has vouched for what is below, and
//    going in a circle adds nothing (RFC 4158 §2.4.2).
// 4. Whoever sends the certificates chooses the graph, and can choose one with more paths than there are atoms. So
//    steps are counted, those in vain too, and after `Limits.steps` there is no further path.

struct PathSearch {
    struct Limits: Sendable, Equatable {
        /// The certificates on a path, including the server's own and the anchor.
        var length: Int
        /// The certificates that are appended to a path.
        var steps = 256
    }

    private let limits: Limits
    private var path: [Int]
    /// For each certificate of the path, the candidates above it still to be tried, the next one last. Nil before the
    /// first path.
    private var waiting: [[Int]]?
    private(set) var steps = 0

    init(from leaf: Int, _ limits: Limits) {
        self.limits = limits
        path = [leaf]
    }

    /// Returns the next path, from the server's certificate to an anchor; nil if there is no more within the limits.
    mutating func next(in graph: some CertificateGraph) -> [Int]? {
        guard var waiting else {
            waiting = [graph.issuers(of: path[0]).reversed()]
            return graph.isAnchor(path[0]) ? path : next(in: graph)
        }
        defer { self.waiting = waiting }
        while let top = waiting.indices.last {
            guard let candidate = waiting[top].popLast() else {
                waiting.removeLast()
                path.removeLast()
                continue
            }
            guard steps < limits.steps else { return nil }
            steps += 1
            guard path.count < limits.length, !path.contains(where: { graph.isSameHolder($0, candidate) }),
                graph.isConfirmed(candidate, asIssuerOf: path[top])
            else { continue }
            if graph.isAnchor(candidate) { return path + [candidate] }
            path.append(candidate)
            waiting.append(graph.issuers(of: candidate).reversed())
        }
        return nil
    }
}

/// A graph of certificates by number, and their possible issuers.
protocol CertificateGraph {
    /// Returns the possible issuers by cheap checks, the likeliest first.
    func issuers(of certificate: Int) -> [Int]
    /// Whether a possible issuer did issue a certificate. Asked only when needed.
    func isConfirmed(_ issuer: Int, asIssuerOf certificate: Int) -> Bool
    func isAnchor(_ certificate: Int) -> Bool
    /// Whether two certificates are about one subject with one key.
    func isSameHolder(_ one: Int, _ other: Int) -> Bool
}
