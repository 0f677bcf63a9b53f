/// The tables of Docs/AFNetworking.md, and what is wrong with them.
///
/// Rules: every ID stands in one row; a row's last column names tests that exist, or says why there is none, or is
/// pending and listed as such. A row whose column says what Dunlin does may be empty only where nothing is done.
struct Ledger {
    struct Row: Equatable {
        let id: String
        let text: String
        let proof: String
    }

    let rows: [Row]

    init(_ markdown: String) {
        rows = markdown.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), line.hasSuffix("|") else { return nil }
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 3, Self.isID(Self.trimmed(cells[0])) else { return nil }
            return Row(id: Self.trimmed(cells[0]), text: Self.trimmed(cells[1]), proof: Self.trimmed(cells[2]))
        }
    }

    /// One line each; none if all is well.
    func problems(ids: [String], tests: Set<String>, pending: Set<String>) -> [String] {
        let known = Dictionary(grouping: rows, by: \.id)
        var problems = ids.compactMap { id -> String? in
            switch known[id]?.count ?? 0 {
            case 0: "\(id) is missing"
            case 1: nil
            case let count: "\(id) stands here \(count) times"
            }
        }
        problems += Set(known.keys).subtracting(ids).sorted().map { "\($0) is no row of AFNetworking's" }
        problems += pending.filter { id in known[id]?.contains { $0.proof == "pending" } != true }.sorted()
            .map { "\($0) is listed as pending and is not" }
        problems += rows.compactMap { row in row.problem(tests, pending).map { "\(row.id) \($0)" } }
        return problems
    }

    private static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && parts[0].allSatisfy { ("A"..."Z").contains($0) }
            && Int(parts[1]) != nil
    }

    private static func trimmed(_ cell: Substring) -> String {
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

extension Ledger.Row {
    fileprivate func problem(_ tests: Set<String>, _ pending: Set<String>) -> String? {
        if proof == "pending" { return pending.contains(id) ? nil : "is pending and not listed as such" }
        // A cell has no blanks at its end, so that something follows them.
        if proof.hasPrefix("Does not apply: ") || proof.hasPrefix("Not yet: ") { return nil }
        if text.isEmpty { return "does not say what Dunlin does" }
        for name in proof.split(separator: "<br>", omittingEmptySubsequences: false) {
            guard name.hasPrefix("test:") else { return "has neither a test nor a reason: \(proof)" }
            let name = String(name.dropFirst(5))
            if !tests.contains(name) { return "names a test that does not exist: \(name)" }
        }
        return nil
    }
}
