import Foundation
import Testing

@Suite struct `Docs/Cache.md` {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized
    private static let tests = package.appending(path: "Tests/DunlinSemanticsTests/Cache")

    private static func text(_ url: URL) throws -> String { String(decoding: try Data(contentsOf: url), as: UTF8.self) }

    /// The names in the last column of the tables of rules.
    private static func named() throws -> [String] {
        let lines = try text(package.appending(path: "Docs/Cache.md")).split(separator: "\n")
        return lines.filter { $0.hasPrefix("| ") }.flatMap { line -> [String] in
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 3, let tests = cells.last else { return [] }
            // Between backticks stands every second piece.
            let pieces = tests.split(separator: "`", omittingEmptySubsequences: false)
            return stride(from: 1, to: pieces.count, by: 2).map { String(pieces[$0]) }
        }
    }

    /// The functions that carry `@Test`, by the sources. An attribute may be lines away from its function.
    private static func written() throws -> [String] {
        let files = try FileManager.default.contentsOfDirectory(at: tests, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "swift" }.flatMap { file in
            try text(file).split(separator: "@Test").dropFirst().compactMap { rest in
                rest.firstMatch(of: /func `([^`]+)`/).map { String($0.1) }
            }
        }
    }

    @Test func `Docs/Cache.md names every test of the rules, and only existing ones`() throws {
        let (named, written) = (Set(try Self.named()), Set(try Self.written()))
        #expect(written.count > 80)
        #expect(named.subtracting(written).sorted() == [])
        #expect(written.subtracting(named).sorted() == [])
    }

    @Test func `Docs/Cache.md lists each rule's source and test`() throws {
        let lines = try Self.text(Self.package.appending(path: "Docs/Cache.md")).split(separator: "\n")
        let rows = lines.filter { $0.hasPrefix("| ") && $0.contains(/` \|$/) && !$0.hasPrefix("| mode") }
        #expect(rows.count > 60)
        for row in rows {
            let cells = row.split(separator: " | ")
            #expect(cells.count == 3, "\(row)")
            #expect(cells[1].contains(/§\d|own|Fetch|RFC 8941/), "\(row)")
        }
    }
}
