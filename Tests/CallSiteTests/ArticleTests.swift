import FoundationEssentials
import Testing

@Suite struct `Snippets of articles` {
    private static let package = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// Without indentation, and without what code needs in a module that belongs to the main actor.
    private static func lines(_ path: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: package.appending(path: path)), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let line = line.drop { $0 == " " }
            let isType = ["nonisolated struct", "nonisolated final class"].contains { line.hasPrefix($0) }
            return String(isType ? line.dropFirst("nonisolated ".count) : line)
        }
    }

    private static func snippets(_ lines: [String], in language: String = "swift") -> [[String]] {
        var snippets: [[String]] = []
        var current: [String]?
        for line in lines {
            if line == "```\(language)" {
                current = []
            } else if line == "```", let snippet = current {
                snippets.append(snippet)
                current = nil
            } else {
                current?.append(line)
            }
        }
        // A manifest is no code of a test.
        return snippets.filter { snippet in
            !snippet.contains { $0.contains(".package(") || $0.contains(".product(") }
        }
    }

    /// What stands between blank lines, imports left out: a test may do something between two of them.
    private static func blocks(_ snippet: [String]) -> [[String]] {
        snippet.filter { !$0.hasPrefix("import ") }.split(separator: "").map(Array.init)
    }

    /// Every file of this module but this one.
    private static func code() throws -> [String] {
        let folder = "Tests/CallSiteTests"
        let names = try FileManager.default.contentsOfDirectory(atPath: package.appending(path: folder).path)
        return try names.filter { $0.hasSuffix(".swift") && $0 != "ArticleTests.swift" }.sorted()
            .flatMap { try lines("\(folder)/\($0)") }
    }

    /// Name, and how many snippets there are at least.
    private nonisolated static let articles: KeyValuePairs = [
        "README.md": 7,
        "Sources/Dunlin/Dunlin.docc/Dunlin.md": 1,
        "Sources/Dunlin/Dunlin.docc/GettingStarted.md": 8,
        "Sources/Dunlin/Dunlin.docc/Comparison.md": 0,
        "Sources/Dunlin/Dunlin.docc/Deploying.md": 2,
        "Sources/Dunlin/Dunlin.docc/HeadersAndOptions.md": 5,
        "Sources/Dunlin/Dunlin.docc/TimeoutsAndLimits.md": 3,
        "Sources/Dunlin/Dunlin.docc/Errors.md": 4,
        "Sources/Dunlin/Dunlin.docc/Lifetimes.md": 6,
        "Sources/Dunlin/Dunlin.docc/TheCommand.md": 0,
        "Sources/Dunlin/Dunlin.docc/Logging.md": 15,
        "Sources/Dunlin/Dunlin.docc/FromAsyncHTTPClient.md": 7,
        "Sources/Dunlin/Dunlin.docc/FromURLSession.md": 7,
        "Sources/Dunlin/Dunlin.docc/FromAlamofire.md": 10,
        "Sources/Dunlin/Dunlin.docc/Interceptors.md": 7,
        "Sources/Dunlin/Dunlin.docc/Caching.md": 7,
        "Sources/Dunlin/Dunlin.docc/Requests.md": 10,
        "Sources/Dunlin/Dunlin.docc/Forms.md": 2,
        "Sources/Dunlin/Dunlin.docc/Uploads.md": 5,
        "Sources/Dunlin/Dunlin.docc/Streams.md": 7,
        "Sources/Dunlin/Dunlin.docc/Upgrades.md": 5,
        "Sources/Dunlin/Dunlin.docc/WebSocket.md": 8,
        "Sources/Dunlin/Dunlin.docc/Responses.md": 6,
        "Sources/Dunlin/Dunlin.docc/JSON.md": 3,
        "Sources/Dunlin/Dunlin.docc/Handles.md": 3,
        "Sources/Dunlin/Dunlin.docc/Downloads.md": 7,
        "Sources/Dunlin/Dunlin.docc/Journal.md": 2,
        "Sources/Dunlin/Dunlin.docc/Queue.md": 5,
        "Sources/Dunlin/Dunlin.docc/Redirects.md": 3,
        "Sources/Dunlin/Dunlin.docc/Cookies.md": 3,
        "Sources/Dunlin/Dunlin.docc/Retries.md": 2,
        "Sources/Dunlin/Dunlin.docc/Authentication.md": 6,
        "Sources/Dunlin/Dunlin.docc/Networks.md": 4,
        "Sources/Dunlin/Dunlin.docc/Guard.md": 3,
        "Sources/Dunlin/Dunlin.docc/Proxies.md": 6,
        "Sources/Dunlin/Dunlin.docc/Addresses.md": 6,
        "Sources/Dunlin/Dunlin.docc/Activity.md": 2,
        "Sources/Dunlin/Dunlin.docc/Trust.md": 10,
        "Sources/DunlinDisplay/DunlinDisplay.docc/DunlinDisplay.md": 1,
        "Sources/DunlinDisplay/DunlinDisplay.docc/Displays.md": 5,
        "Sources/DunlinDisplay/DunlinDisplay.docc/LoadingDocuments.md": 2,
        "Sources/DunlinResilience/DunlinResilience.docc/DunlinResilience.md": 1,
        "Sources/DunlinRecording/DunlinRecording.docc/DunlinRecording.md": 1,
        "Sources/DunlinRecording/DunlinRecording.docc/RecordingAndReplaying.md": 3,
        "Sources/DunlinResilience/DunlinResilience.docc/SlowServers.md": 3,
        "Sources/DunlinSigning/DunlinSigning.docc/DunlinSigning.md": 1,
        "Sources/DunlinSigning/DunlinSigning.docc/SigningRequests.md": 7,
        "Sources/DunlinTesting/DunlinTesting.docc/DunlinTesting.md": 1,
        "Sources/DunlinTesting/DunlinTesting.docc/Testing.md": 8,
    ]

    /// Every article of the catalogs of this module's products, and no other. Those on adapters, such as
    /// `DunlinMetrics.md`, and on services have snippets that only tests with other packages can compile. The tutorial
    /// has whole files, which TutorialTests compiles and runs.
    @Test func `no article is left out`() throws {
        var found: Set = ["README.md"]
        let modules = [
            "Dunlin", "DunlinDisplay", "DunlinRecording", "DunlinResilience", "DunlinSigning", "DunlinTesting",
        ]
        for module in modules {
            let folder = "Sources/\(module)/\(module).docc"
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.package.appending(path: folder).path)
            for name in names where name.hasSuffix(".md") {
                if module == "Dunlin", name.hasPrefix("Dunlin"), name != "Dunlin.md" { continue }
                if ["InAService.md", "Tutorial.md"].contains(name) { continue }
                found.insert("\(folder)/\(name)")
            }
        }
        #expect(found.symmetricDifference(Self.articles.map(\.key)) == [])
    }

    /// Wider code scrolls sideways where it is read. That holds for fenced and for indented blocks of every article.
    @Test func `code in an article has at most 76 columns`() throws {
        var paths = ["README.md"]
        for module in try FileManager.default.contentsOfDirectory(atPath: Self.package.appending(path: "Sources").path)
        {
            let folder = "Sources/\(module)/\(module).docc"
            if !FileManager.default.fileExists(atPath: Self.package.appending(path: folder).path) { continue }
            let names = try FileManager.default.contentsOfDirectory(atPath: Self.package.appending(path: folder).path)
            paths += names.filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
        }
        #expect(paths.count > 50)
        for path in paths {
            let text = String(decoding: try Data(contentsOf: Self.package.appending(path: path)), as: UTF8.self)
            var isFenced = false
            for line in text.split(separator: "\n") {
                if line.hasPrefix("```") { isFenced.toggle() }
                let indentation = isFenced ? 0 : 4
                let isCode = isFenced || line.hasPrefix("    ")
                #expect(!isCode || line.count - indentation <= 76, "\(path): \(line)")
            }
            #expect(!isFenced, "\(path)")
        }
    }

    @Test(arguments: articles.map { ($0.key, $0.value) })
    func `every snippet of an article is code of a test`(article: String, count: Int) throws {
        let code = try Self.code()
        let snippets = Self.snippets(try Self.lines(article))
        #expect(snippets.count >= count)
        for block in snippets.flatMap(Self.blocks) {
            let isThere = code.indices.contains { code[$0...].starts(with: block) }
            #expect(isThere, "\(block.joined(separator: "\n"))")
        }
    }

    /// A block in ```` ```text ```` is what code prints: a test has it as an argument of `isShown(_:as:)`.
    @Test(arguments: articles.map(\.key))
    func `what an article shows as printed is compared with what a test prints`(article: String) throws {
        let code = try Self.code()
        for block in Self.snippets(try Self.lines(article), in: "text") {
            let isThere = code.indices.dropFirst().contains { start in
                code[start...].starts(with: block) && code[start - 1].hasSuffix(#"as: """"#)
                    && code[start + block.count].hasPrefix(#"""""#)
            }
            #expect(isThere, "\(block.joined(separator: "\n"))")
        }
    }

    @Test(arguments: ["Requests", "Forms", "Uploads", "Streams", "Retries"])
    func `a snippet of these articles stands in one piece in a test`(article: String) throws {
        let code = try Self.code()
        for snippet in Self.snippets(try Self.lines("Sources/Dunlin/Dunlin.docc/\(article).md")) {
            let isThere = code.indices.contains { code[$0...].starts(with: snippet) }
            #expect(isThere, "\(snippet.joined(separator: "\n"))")
        }
    }
}
