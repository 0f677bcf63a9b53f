internal import DunlinTransport

/// The hops of the exchanges that bring one file side by side, each once.
///
/// Rules:
/// 1. An exchange's hop is noted when it has ended, whatever with.
/// 2. The first exchange's hop is kept apart: it is told with its response, or when that is left.
/// 3. Hops of stopped exchanges are kept apart too: they are told after those of exchanges that ended by themselves.
/// 4. The hop that an error has is not told twice.
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

    /// Those that are told beside the outcome.
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
