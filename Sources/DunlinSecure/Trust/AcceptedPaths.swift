internal import DunlinTypes

// Paths that were accepted, so that the next connection to a server need not verify the same signatures again.
//
// It must be as strict as to decide anew:
// 1. Only the very same bytes are the same: the server's certificate and all that it sent with it, for the same host.
//    Rules, roots and pins are the same because each evaluator has a memory of its own.
// 2. Time is looked at each time: all paths that the decision rested on must be valid.
// 3. What else depends on time is not remembered: a decision that looked at revocation (`TrustEvaluator` sees to it).
// 4. A refusal is not remembered: it may be the time's fault, and nobody repeats it often.
//
// Must not know: OpenSSL, clocks.

/// The input of one decision.
struct PresentedBytes: Hashable, Sendable {
    let host: HostIdentity
    /// The certificates in DER, the server's own first, the others as sent.
    let certificates: [Bytes]
}

struct AcceptedPaths: Sendable {
    struct Limits: Sendable {
        var count = 64
        /// The limit of a chain's bytes; longer ones are not remembered.
        var bytes = 16 * 1024
    }

    private struct Entry {
        let path: [Certificate]
        let validity: PathValidity
    }

    private let byteLimit: Int
    private var entries: RecentValues<PresentedBytes, Entry>

    init(_ limits: Limits = Limits()) {
        byteLimit = limits.bytes
        entries = RecentValues(limit: limits.count)
    }

    var count: Int { entries.count }

    /// Returns the path accepted for the same bytes, if it is valid at `now`, in seconds since 1970.
    mutating func path(for presented: PresentedBytes, at now: Int64) -> [Certificate]? {
        guard entries[presented]?.validity.contains(now) == true else { return nil }
        return entries.use(presented)?.path
    }

    mutating func remember(_ path: [Certificate], for presented: PresentedBytes, while validity: PathValidity) {
        guard presented.certificates.reduce(0, { $0 + $1.count }) <= byteLimit else { return }
        entries.keep(Entry(path: path, validity: validity), for: presented)
    }
}
