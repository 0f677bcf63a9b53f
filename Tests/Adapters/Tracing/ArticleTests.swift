import Articles
import Dunlin
import DunlinTracing
import InMemoryTracing
import Testing
import Tracing

@Suite("The article on traces")
struct ArticleTests {
    private static let article = "Sources/Dunlin/Dunlin.docc/DunlinTracing.md"

    /// What the article shows, compiled.
    private func snippets() throws {
        var configuration = HTTPSession.Configuration(
            baseURL: "https://api.example.com/v1/")
        configuration.recordSpans()
        let client = try HTTPSession(configuration)

        let tracer = InMemoryTracer()
        configuration.recordSpans(with: tracer) {
            $0.recordsRequests = true
        }

        configuration.recordSpans {
            $0.propagation = .everywhere
            $0.sendsBaggage = true
        }

        configuration.recordSpans {
            $0.showsPaths = false
        }

        _ = client
    }

    @Test func `Every snippet is code of this test`() throws {
        let article = try Article(on: "Tracing")
        #expect(article.parts.count == 5)
        #expect(article.blocksWithoutCode() == [])
    }

    /// What stands between backticks, or between quotes, and has a dot in it.
    private static func names(_ mark: Character, in lines: [String]) -> Set<String> {
        let quoted = lines.flatMap { line in
            line.split(separator: mark, omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map { String($0.element) }
        }
        return Set(quoted.filter { $0.contains(".") && $0.first != "." })
    }

    @Test func `The tables have every attribute and no other`() throws {
        let keys = Self.names("\"", in: try Article.lines("Sources/DunlinTracing/SpanKey.swift"))
        let article = try Article.lines(Self.article)
        let used = Self.names("`", in: article).filter { name in
            ["http.", "url.", "server.", "network.", "user_agent.", "error.", "dunlin."].contains(where: name.hasPrefix)
        }
        let events = Self.names(
            "`",
            in: article.filter { $0.hasPrefix("| `dunlin.") }.map { row in
                row.split(separator: "|").first.map(String.init) ?? ""
            })
        #expect(keys.subtracting(used) == [])
        #expect(used.subtracting(keys).subtracting(events) == [])
    }

    @Test func `The table of events has every step and every phase`() throws {
        let code = try Article.text("Sources/DunlinTracing/SpanEvent+Steps.swift")
        let article = try Article.text(Self.article)
        let steps = code.matches(of: /name = "([a-z_]+)"/).map { String($0.1) }
        #expect(steps.count == 11)
        for step in steps { #expect(article.contains("`dunlin.\(step)`"), "\(step)") }
        for phase in HTTP.Phase.allCases {
            #expect(article.contains("`.\(phase.rawValue)`") || article.contains("`dunlin.phase.\(phase.rawValue)`"))
        }
        #expect(HTTPSession.SendingAgain.allCases.allSatisfy { article.contains("`\($0.rawValue)`") })
    }
}
