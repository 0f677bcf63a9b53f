/// The tables of Docs/AFNetworking.md, and what is wrong with them.
///
/// Rules: every ID stands in one row, in the order of the list, and no row is there that is not listed; a row's last
/// column names tests that exist, or says why there is none, or is pending and listed as such. The column that says
/// what Dunlin does may be empty only where nothing is done. A line of a table that is no row is an error: it might
/// have been meant for one.
struct Ledger {
    struct Row: Equatable {
        let id: String
        let text: String
        let proof: String
    }

    private static let headings: Set<Substring> = ["| ID | What Dunlin does | Test, or why not |", "|---|---|---|"]

    let rows: [Row]
    /// Lines of tables that are neither headings nor rows.
    let strays: [Substring]

    init(_ markdown: String) {
        let lines = markdown.split(separator: "\n").filter { $0.drop { $0 == " " }.hasPrefix("|") }
        let read = lines.filter { !Self.headings.contains($0) }.map { (line: $0, row: Self.row($0)) }
        rows = read.compactMap(\.row)
        strays = read.filter { $0.row == nil }.map(\.line)
    }

    private static func row(_ line: Substring) -> Row? {
        guard line.hasPrefix("| "), line.hasSuffix("|") else { return nil }
        let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        guard cells.count == 3, isID(trimmed(cells[0])) else { return nil }
        return Row(id: trimmed(cells[0]), text: trimmed(cells[1]), proof: trimmed(cells[2]))
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
        problems += strays.map { "\($0) is no row" }
        if let id = misplaced(ids) { problems.append("\(id) is not in its place") }
        problems += pending.filter { id in known[id]?.contains { $0.proof == "pending" } != true }.sorted()
            .map { "\($0) is listed as pending and is not" }
        problems += rows.compactMap { row in row.problem(tests, pending).map { "\(row.id) \($0)" } }
        return problems
    }

    /// The first row that stands before one that it should follow.
    private func misplaced(_ ids: [String]) -> String? {
        let places = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let known = rows.filter { places[$0.id] != nil }
        return zip(known, known.dropFirst()).first { places[$0.id] ?? 0 > places[$1.id] ?? 0 }?.0.id
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
