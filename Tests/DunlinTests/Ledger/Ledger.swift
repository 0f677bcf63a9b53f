/// The tables of Docs/AFNetworking.md, and what is wrong with them.
///
/// Rules: every ID stands in one row, in the order of the list, and no row is there that is not listed; a row's last
/// column says that it is tested, or why it is not, or is pending and listed as such. A row says `tested` if a test
/// carries its ID, and only then. The column that says what Dunlin does may be empty only where nothing is done. A line
/// of a table that is no row is an error: it might have been meant for one.
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

    /// The IDs that tests carry by the trait `.rows("…")`, in the text of one file of theirs. Lines that are comments
    /// do not count.
    static func carried(in source: String) -> Set<String> {
        let code = source.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        var ids: Set<String> = []
        for rest in code.split(separator: ".rows", omittingEmptySubsequences: false).dropFirst() {
            let list = rest.dropFirst().drop { $0 == " " || $0 == "\n" }.prefix { $0 != ")" }
            // What does not begin with a literal is no trait. Between quotes stands every second piece.
            guard rest.hasPrefix("("), list.hasPrefix("\"") else { continue }
            let pieces = list.split(separator: "\"", omittingEmptySubsequences: false)
            for index in stride(from: 1, to: pieces.count, by: 2) { ids.insert(String(pieces[index])) }
        }
        return ids
    }

    /// One line each; none if all is well. `carried` are the IDs that tests carry.
    func problems(ids: [String], carried: Set<String>, pending: Set<String>) -> [String] {
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
        problems += rows.compactMap { row in row.problem(carried, pending).map { "\(row.id) \($0)" } }
        problems += carried.filter { id in known[id]?.contains { $0.proof == "tested" } != true }.sorted()
            .map { "\($0) is carried by a test, and no row of that ID says tested" }
        return problems
    }

    /// The first row that stands before one that it should follow.
    private func misplaced(_ ids: [String]) -> String? {
        let positions = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let known = rows.filter { positions[$0.id] != nil }
        return zip(known, known.dropFirst()).first { positions[$0.id] ?? 0 > positions[$1.id] ?? 0 }?.0.id
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
    fileprivate func problem(_ carried: Set<String>, _ pending: Set<String>) -> String? {
        if proof == "pending" { return pending.contains(id) ? nil : "is pending and not listed as such" }
        // A cell has no blanks at its end, so that something follows them.
        if proof.hasPrefix("Does not apply: ") || proof.hasPrefix("Not yet: ") { return nil }
        if text.isEmpty { return "does not say what Dunlin does" }
        if proof != "tested" { return "is neither tested nor has a reason: \(proof)" }
        return carried.contains(id) ? nil : "says tested, and no test carries it"
    }
}
