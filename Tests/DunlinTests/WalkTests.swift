import Foundation
import Testing

/// The walk of a request as Docs/Architecture.md tells it.
@Suite struct `The walk of a request` {
    private struct Step {
        let number: Int
        /// The step that leads here.
        let from: Int?
        let path: String
        let symbol: String

        /// A row of the table: number, from, file, symbol, what happens.
        init?(_ line: Substring) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 7, let number = Int(cells[1]), let link = cells[3].split(separator: "(").last,
                cells[4].hasPrefix("`")
            else { return nil }
            self.number = number
            from = Int(cells[2])
            path = link.dropLast().replacingOccurrences(of: "../", with: "")
            symbol = cells[4].trimmingCharacters(in: ["`"])
        }

        func text() throws -> String { try `The walk of a request`.text(path) }

        var declaration: Regex<Substring>? { try? Regex("(?:func|init|struct|class|actor|enum) ?`?\(symbol)\\b") }
    }

    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
    }

    private static func steps() throws -> [Step] {
        try text("Docs/Architecture.md").split(separator: "\n").compactMap(Step.init)
    }

    @Test func `the walk's steps are numbered without a gap and name 16 to 24 files`() throws {
        let steps = try Self.steps()
        #expect(steps.map(\.number) == Array(1...steps.count))
        #expect((16...24).contains(Set(steps.map(\.path)).count))
    }

    @Test func `each step's file declares its symbol, which an earlier step's file names`() throws {
        let steps = try Self.steps()
        for step in steps {
            let text = try step.text()
            let declaration = try #require(step.declaration)
            #expect(text.contains(declaration), "\(step.path) declares no \(step.symbol)")
            guard step.number > 1 else { continue }
            let from = try #require(step.from, "\(step.path) is come to from somewhere")
            #expect(from < step.number, "the walk never goes back up")
            #expect(try steps[from - 1].text().contains(step.symbol), "step \(from) names \(step.symbol)")
        }
    }
}
