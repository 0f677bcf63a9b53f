import Dunlin
import DunlinRecording
import DunlinTypes
import FoundationEssentials

/// The times of an archive's entries, on one clock.
///
/// An archive may have been written on several days: of time in which nothing was under way a little is left, together
/// at most a quarter of the rest. Its numbers are anybody's, so they are clamped.
struct ArchiveTimes {
    /// In the order of the entries.
    let hops: [HTTP.Hop]

    /// Beyond these many milliseconds, twelve days, all are alike.
    private static let longest = 1e9

    init(_ entries: [HAR.Entry]) {
        var hops = entries.map(Self.hop)
        let first = entries.map(\.startedDateTime).min() ?? Date()
        let starts = entries.map { Self.nanoseconds($0.startedDateTime.timeIntervalSince(first) * 1000, upTo: 1e12) }
        let lengths = hops.map { hop in HTTP.Phase.allCases.reduce(0) { $0 + hop[$1] } }
        let order = starts.indices.sorted { starts[$0] < starts[$1] }
        var (busy, end) = (Int64(0), Int64(0))
        for index in order {
            busy += max(0, starts[index] + lengths[index] - max(end, starts[index]))
            end = max(end, starts[index] + lengths[index])
        }
        let longestPause = busy / Int64(4 * max(1, entries.count))
        var leftOut = Int64(0)
        end = 0
        for index in order {
            leftOut += max(0, starts[index] - leftOut - end - longestPause)
            hops[index].started = HTTP.Instant(nanoseconds: starts[index] - leftOut)
            end = max(end, starts[index] - leftOut + lengths[index])
        }
        self.hops = hops
    }

    static func nanoseconds(_ milliseconds: Double, upTo most: Double = longest) -> Int64 {
        Int64(min(max(0, milliseconds), most) * 1e6)
    }

    private static func hop(of entry: HAR.Entry) -> HTTP.Hop {
        var hop = HTTP.Hop()
        func time(_ milliseconds: Double?) -> Int64 { nanoseconds(milliseconds ?? 0) }
        let timings = entry.timings
        hop[.pool] = time(timings.blocked)
        hop[.resolve] = time(timings.dns)
        // That of TLS is a part of it.
        hop[.connect] = max(0, time(timings.connect) - time(timings.ssl))
        hop[.tls] = time(timings.ssl)
        hop[.send] = time(timings.send)
        hop[.firstByte] = time(timings.wait)
        hop[.receive] = time(timings.receive)
        if HTTP.Phase.allCases.allSatisfy({ hop[$0] == 0 }) { hop[.firstByte] = time(entry.time) }
        return hop
    }
}
