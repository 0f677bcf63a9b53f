import Foundation

/// The article on an adapter, beside the test that compiles what the article shows.
public struct Article {
    /// The parts in Swift, each in lines without indentation. The first is the manifest.
    public let parts: [[String]]
    private let code: [String]
    private let adapter: String

    /// `adapter` is the name of its module without `Dunlin`, and of the folder of its tests.
    public init(on adapter: String) throws {
        self.adapter = adapter
        parts = try Self.lines("Sources/Dunlin/Dunlin.docc/Dunlin\(adapter).md").split(separator: "```swift")
            .dropFirst().map { Array($0.prefix { $0 != "```" }) }
        code = try Self.lines("Tests/Adapters/\(adapter)/ArticleTests.swift")
    }

    private static let folder = URL(filePath: #filePath).appending(path: "../../../..").standardized

    /// The text of a file of Dunlin.
    public static func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: path)), as: UTF8.self)
    }

    /// The same in lines without indentation.
    public static func lines(_ path: String) throws -> [String] {
        try text(path).split(separator: "\n", omittingEmptySubsequences: false).map { String($0.drop { $0 == " " }) }
    }

    /// The blocks, between empty lines, that are no code of the test. Manifests are left out, and parts about a package
    /// that is not there.
    public func blocksWithoutCode(except absentPackage: String? = nil) -> [[String]] {
        let compiled = parts.filter { part in
            !part.contains { line in line.contains(".package(") || absentPackage.map(line.contains) ?? false }
        }
        return compiled.flatMap { part in
            part.filter { !$0.hasPrefix("import ") }.split(separator: "").map(Array.init)
        }.filter { block in !code.indices.contains { code[$0...].starts(with: block) } }
    }

    /// What the manifest lacks of the products, the trait, and the oldest version of the outside package that is
    /// tested.
    public func missingInManifest(trait: String, product: String, of path: String) throws -> [String] {
        let manifest = parts.first?.joined(separator: " ") ?? ""
        let package = path.split(separator: "/").last ?? ""
        let start = "outside(\"\(path)\", from: \""
        let oldest = try Self.lines("Tests/Adapters/Package.swift").first { $0.hasPrefix(start) }?
            .dropFirst(start.count).prefix { $0 != "\"" }
        return [
            "traits: [\"\(trait)\"])", ".product(name: \"Dunlin\", package: \"dunlin\")",
            ".product(name: \"Dunlin\(adapter)\", package: \"dunlin\")",
            ".product(name: \"\(product)\", package: \"\(package)\")",
            "\(path).git\", from: \"\(oldest ?? "no version")\"",
        ].filter { !manifest.contains($0) }
    }
}
