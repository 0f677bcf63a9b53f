extension HTTPSession.Gauges: CustomStringConvertible {
    /// A table with a line for requests and one for each origin.
    public var description: String {
        var lines = ["\(requests) requests, \(queued) of them queued"]
        if coalesced > 0 { lines[0] += ", \(coalesced) waiting for another like them" }
        if let pool { lines += pool.lines } else { lines.append("no connections of its own") }
        if let cache {
            lines.append(
                "cache: \(cache.hits) hits, \(cache.revalidated) revalidated, \(cache.misses) misses, "
                    + "\(cache.stale) stale")
        }
        lines += retriesLeft.sorted { $0.key < $1.key }.map { "\($0.value) retries left for \($0.key)" }
        return lines.joined(separator: "\n")
    }
}

extension HTTPSession.Gauges.Pool {
    /// A heading, a line for each origin, and the total unless there is exactly one.
    fileprivate var lines: [String] {
        var rows = origins.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if others != HTTP.ConnectionGauges() { rows.append(("others", others)) }
        if rows.count != 1 { rows.append(("total", total)) }
        let names = rows.map(\.0.count).max() ?? 0
        // Each column is as wide as its longest entry.
        let columns = HTTP.ConnectionGauges.columns.map { title, value in
            let entries = [title] + rows.map { "\($0.1[keyPath: value])" }
            let width = entries.map(\.count).max() ?? 0
            return entries.map { " " + $0.padded(to: width, isNumber: true) }
        }
        let titles = ["origin"] + rows.map(\.0)
        return titles.enumerated().map { line, title in
            title.padded(to: max(names, 6)) + columns.map { $0[line] }.joined()
        }
    }
}

extension String {
    fileprivate func padded(to width: Int, isNumber: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - count))
        return isNumber ? space + self : self + space
    }
}
