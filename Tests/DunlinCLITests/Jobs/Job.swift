import Foundation

/// A program that the page of jobs compares.
enum Tool: Int, CaseIterable, Sendable, CustomStringConvertible {
    case curl, httpie, dunlin

    var description: String {
        switch self {
        case .curl: "curl"
        case .httpie: "HTTPie"
        case .dunlin: "dunlin"
        }
    }
}

/// A row of the page: a job, and the line that does it.
struct Job: Sendable, CustomStringConvertible {
    let name: String
    private var cells: [String]

    var description: String { name }

    /// Nil if the tool cannot do it.
    func line(of tool: Tool) -> String? {
        let cell = cells[tool.rawValue]
        return cell.hasPrefix("`") ? String(cell.dropFirst().dropLast()) : nil
    }

    static let page = URL(filePath: #filePath)
        .appending(path: "../../../../Sources/Dunlin/Dunlin.docc/TheCommand.md").standardized

    /// The jobs of the page below this heading of the second level: each is three rows, one for each program.
    static func jobs(below heading: String) throws -> [Job] {
        let text = try String(contentsOf: page, encoding: .utf8)
        let sections = text.components(separatedBy: "\n## ")
        let section = sections.first { $0.hasPrefix("\(heading)\n") } ?? ""
        var jobs: [Job] = []
        for line in section.split(separator: "\n") {
            // A bar within a cell has a backslash before it.
            let cells = line.replacing("\\|", with: "\0").split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.replacing("\0", with: "|").trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5, cells[1] != "job", !cells[1].hasPrefix("---") else { continue }
            if !cells[1].isEmpty { jobs.append(Job(name: cells[1], cells: [])) }
            guard let job = jobs.last, job.cells.count < Tool.allCases.count,
                cells[2] == "\(Tool.allCases[job.cells.count])"
            else { throw Misplaced(row: String(line)) }
            jobs[jobs.count - 1].cells.append(cells[3])
        }
        if let short = jobs.first(where: { $0.cells.count < Tool.allCases.count }) { throw Misplaced(row: short.name) }
        return jobs
    }

    /// A row that is not the next program's, or a job that lacks one.
    private struct Misplaced: Error {
        let row: String
    }
}
