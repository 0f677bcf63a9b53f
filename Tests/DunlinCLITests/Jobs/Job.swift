import Foundation

/// A program that the page of jobs compares.
enum Tool: Int, CaseIterable, Sendable {
    case curl, httpie, dunlin
}

/// A row of the page: a job, and the line that does it.
struct Job: Sendable, CustomStringConvertible {
    let name: String
    private let cells: [String]

    var description: String { name }

    /// Nil if the tool cannot do it.
    func line(of tool: Tool) -> String? {
        let cell = cells[tool.rawValue]
        return cell.hasPrefix("`") ? String(cell.dropFirst().dropLast()) : nil
    }

    static let page = URL(filePath: #filePath)
        .appending(path: "../../../../Sources/Dunlin/Dunlin.docc/TheCommand.md").standardized

    /// The rows of the page below this heading of the second level.
    static func jobs(below heading: String) throws -> [Job] {
        let text = try String(contentsOf: page, encoding: .utf8)
        let sections = text.components(separatedBy: "\n## ")
        let section = sections.first { $0.hasPrefix("\(heading)\n") } ?? ""
        return section.split(separator: "\n").compactMap { line in
            // A bar within a cell has a backslash before it.
            let cells = line.replacing("\\|", with: "\0").split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.replacing("\0", with: "|").trimmingCharacters(in: .whitespaces) }
            guard cells.count == 6, cells[1] != "job", !cells[1].hasPrefix("---") else { return nil }
            return Job(name: cells[1], cells: Array(cells[2...4]))
        }
    }
}
