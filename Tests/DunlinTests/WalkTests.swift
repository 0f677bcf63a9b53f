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

        /// The type of a function, and the function; or a type alone.
        private var names: [Substring] { symbol.split(separator: ".") }
        private var name: Substring { names.last ?? "" }
        private var isType: Bool { name.first?.isUppercase ?? false }

        /// Its lines without comments.
        func code() throws -> [String] {
            try `The walk of a request`.text(path).split(separator: "\n")
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("//") }
        }

        /// Whether its file declares the symbol: a function in a type of that name, or in an extension of it.
        func isDeclared() throws -> Bool {
            let code = try code()
            let kinds = "struct|class|actor|enum|protocol" + (isType ? "" : "|extension")
            let type = try Regex("\\b(?:\(kinds)) (?:\\w+\\.)*\(names[0])\\b")
            guard code.contains(where: { $0.contains(type) }) else { return false }
            return isType ? names.count == 1 : try names.count == 2 && code.contains { try declares($0) }
        }

        private func declares(_ line: String) throws -> Bool { line.contains(try Regex("\\bfunc \(name)\\b")) }

        /// Whether this code calls it, or makes one of the type. Where a function of the same name is declared, only a
        /// call on something else is one of this.
        func isCalled(in code: [String]) throws -> Bool {
            let isAmbiguous = isType ? false : try code.contains { try declares($0) }
            // To a regex, a dot within a word is no boundary.
            let call = try Regex("\(isAmbiguous ? "\\." : "(?:^|\\W)")\(name)(?:[(<]| \\{)")
            return try code.contains { try $0.contains(call) && !$0.contains("self.\(name)") && !declares($0) }
        }
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

    @Test func `each step's file declares its symbol, and an earlier step's file calls it`() throws {
        let steps = try Self.steps()
        for step in steps {
            #expect(try step.isDeclared(), "\(step.path) declares no \(step.symbol)")
            guard step.number > 1 else { continue }
            let from = try #require(step.from, "\(step.path) is come to from somewhere")
            #expect(from < step.number, "the walk never goes back up")
            #expect(try step.isCalled(in: steps[from - 1].code()), "step \(from) does not call \(step.symbol)")
        }
    }
}
