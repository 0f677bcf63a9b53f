internal import DunlinTransport

/// The hops of the exchanges that fetch one file in parallel, each once.
///
/// Rules:
/// 1. An exchange's hop is recorded when the exchange has ended, with any outcome.
/// 2. The first exchange's hop is kept apart: it is reported with its response, or when that is discarded.
/// 3. Hops of stopped exchanges are kept apart too, and reported after those of exchanges that ended by themselves.
/// 4. The hop in an error is not reported twice.
struct SegmentHops: Sendable {
    private var ended: [HTTP.Hop] = []
    private var lead: HTTP.Hop?
    private var stopped: [HTTP.Hop] = []

    mutating func add(_ hops: [HTTP.Hop]) { ended += hops }

    mutating func note(_ hop: HTTP.Hop, isLead: Bool = false, isStopped: Bool = false) {
        if isLead {
            lead = hop
        } else if isStopped {
            stopped.append(hop)
        } else {
            ended.append(hop)
        }
    }

    /// The hops to report in addition to the outcome's own.
    func hops(before outcome: SegmentedFetch.Outcome) -> [HTTP.Hop] {
        switch outcome {
        case .complete, .useless: ended + stopped
        case .failed(let error): all(before: error as? NetworkError)
        case .overrun(let error): all(before: error)
        }
    }

    private func all(before error: NetworkError?) -> [HTTP.Hop] {
        var hops = [lead].compactMap(\.self) + ended + stopped
        if let last = hops.lastIndex(where: { $0 == error?.hop }) { hops.remove(at: last) }
        return hops
    }
}
