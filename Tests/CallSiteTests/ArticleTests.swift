import FoundationEssentials
import Testing

@Suite struct `Snippets of articles` {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    private static func lines(_ path: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(line.drop { $0 == " " })
        }
    }

    private static func snippets(_ lines: [String]) -> [[String]] {
        var snippets: [[String]] = []
        var current: [String]?
        for line in lines {
            if line == "```swift" {
                current = []
            } else if line == "```", let snippet = current {
                snippets.append(snippet)
                current = nil
            } else {
                current?.append(line)
            }
        }
        return snippets
    }

    /// Name, and how many there are at least.
    @Test(arguments: [("Requests", 9), ("Retries", 3)])
    func `every snippet of an article is code that runs in a test`(article: String, count: Int) throws {
        let code = try Self.lines("Tests/CallSiteTests/CallSiteTests.swift")
        let snippets = Self.snippets(try Self.lines("Sources/Dunlin/Dunlin.docc/\(article).md"))
        #expect(snippets.count >= count)
        for snippet in snippets {
            let isThere = code.indices.contains { code[$0...].starts(with: snippet) }
            #expect(isThere, "\(snippet.joined(separator: "\n"))")
        }
    }
}
