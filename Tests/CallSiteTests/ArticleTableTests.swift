import FoundationEssentials
import Testing

/// Readers find an article, an option or a code by a table: each table has all of them.
@Suite struct `Tables of articles` {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized
    private nonisolated static let catalog = "Sources/Dunlin/Dunlin.docc"

    private static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
    }

    /// What stands between two headings.
    private static func section(of path: String, from heading: String, to next: String? = nil) throws -> Substring {
        let text = try text(path)
        let start = try #require(text.firstRange(of: "\n\(heading)\n"), "\(heading)")
        let rest = text[start.upperBound...]
        guard let next else { return rest }
        return rest[..<(try #require(rest.firstRange(of: "\n\(next)\n"), "\(next)")).lowerBound]
    }

    /// The names that rows begin with.
    private static func names(ofRows section: Substring) -> [String] {
        section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
            String($0.dropFirst(3).prefix { $0 != "`" })
        }
    }

    /// The names that declarations of this form make public.
    private static func names(in paths: [String], after start: String) throws -> [String] {
        try paths.flatMap { try text($0).split(separator: "\n") }.compactMap { line in
            let line = line.drop { $0 == " " }
            guard line.hasPrefix(start) else { return nil }
            return String(line.dropFirst(start.count).drop { $0 == "`" }.prefix { $0.isLetter || $0.isNumber })
        }
    }

    /// The articles of the products, without the page that each catalog begins with.
    private static func articles(of modules: [String]) throws -> [(path: String, name: String)] {
        try modules.flatMap { module in
            let folder = "Sources/\(module)/\(module).docc"
            let names = try FileManager.default.contentsOfDirectory(atPath: package.appending(path: folder).path)
            return names.filter { $0.hasSuffix(".md") && $0 != "\(module).md" }.sorted().map {
                ("\(folder)/\($0)", String($0.dropLast(3)))
            }
        }
    }

    @Test func `the table of the README leads to every article`() throws {
        let table = try Self.section(of: "README.md", from: "## Find what you need", to: "## What you may rely on")
        for article in try Self.articles(of: ["Dunlin", "DunlinDisplay", "DunlinImages", "DunlinTesting"]) {
            #expect(table.contains("(\(article.path))"), "\(article.path)")
        }
    }

    @Test(arguments: [("Dunlin", "## Topics"), ("GettingStarted", "### Where to read on")])
    func `the lists of the documentation lead to every other article`(list: String, heading: String) throws {
        let section = try Self.section(of: "\(Self.catalog)/\(list).md", from: heading)
        for article in try Self.articles(of: ["Dunlin"]) where article.name != list {
            #expect(section.contains("<doc:\(article.name)>"), "\(article.name)")
        }
    }

    @Test(arguments: [
        ("README.md", "## Find what you need"), ("\(catalog)/GettingStarted.md", "### Where to read on"),
    ])
    func `no row of these tables is there twice`(path: String, heading: String) throws {
        let rows = try Self.section(of: path, from: heading).split(separator: "\n").filter { $0.hasPrefix("| ") }
            .map { $0.prefix { $0 != "(" } }
        #expect(Set(rows).count == rows.count)
    }

    @Test func `the table of options has each option of a request once`() throws {
        let section = try Self.section(
            of: "\(Self.catalog)/HeadersAndOptions.md", from: "### Every option of a request",
            to: "### Three forms of an option")
        let options = try Self.names(in: ["Sources/DunlinSession/Settings/Options.swift"], after: "public var ")
        #expect(options.count > 20)
        #expect(Self.names(ofRows: section).sorted() == options.sorted())
    }

    @Test func `the tables of errors have each code once, under a heading`() throws {
        let section = try Self.section(
            of: "\(Self.catalog)/Errors.md", from: "### Every code", to: "### Cancellation")
        let codes = try Self.names(in: ["Sources/DunlinTypes/NetworkError.swift"], after: "public static let ")
        #expect(codes.count > 40)
        #expect(Self.names(ofRows: section).sorted() == codes.sorted())
        let tables = section.split(separator: "| code |", omittingEmptySubsequences: false)
        for beginning in tables.dropLast() {
            #expect(beginning.split(separator: "\n").last?.hasPrefix("#### ") == true)
        }
    }
}
