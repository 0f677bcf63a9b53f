import Children
import Dunlin
import DunlinCommandLine
import DunlinDisplay
import DunlinRecording
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// `--har`, and the table of `dunlin har`.
@Suite(.timeLimit(.minutes(5))) struct ArchiveTests {
    private let server: LoopbackServer
    private let folder: Folder
    private let paper: Paper
    private var path: String { folder.path + "/a.har" }

    init() throws {
        (server, folder, paper) = (try LoopbackServer(), try Folder(), try Paper())
        server.respond { request in
            switch request.target {
            case "/none": .response(404, body: "no")
            case "/old": .response(302, fields: ["Location": "/new"])
            default: .response(fields: ["Content-Type": "text/plain"], body: "body")
            }
        }
    }

    private func run(_ arguments: String...) async throws -> ExitCode {
        await DunlinCommand.run(try Command(arguments: arguments), paper.output)
    }

    // MARK: - Writing

    @Test func `each run adds what it sends and receives`() async throws {
        // Another recorder may use the file when the process has ended.
        for (code, words) in [
            (ExitCode.success, ["--har", "a.har", server.baseURL + "/a?token=hunter2"]),
            (.refused, ["--har", "a.har", "-d", "x=1", server.baseURL + "/none"]),
            (.success, ["--har", "a.har", server.baseURL + "/old"]),
            (.success, ["--har", "a.har", "-so", "file", server.baseURL + "/b"]),
            (.success, ["download", "-s", "--har", "a.har", server.baseURL + "/c"]),
        ] {
            let (said, end) = try await Child.output(of: try PseudoTerminal.program, words, in: folder.path)
            #expect(end.status == code.rawValue, "\(words): \(said)")
        }
        let har = try HAR(contentsOf: path)
        #expect(har.entries.map(\.response.status) == [200, 404, 302, 200, 200, 200])
        #expect(har.entries[0].request.url == server.baseURL + "/a?token=***")
        #expect(har.entries[0].response.content.text == "body" && har.entries[1].request.postData?.text == "x=1")
    }

    @Test func `what fails is in the archive`() async throws {
        server.stop()
        #expect(try await run("--har", path, server.baseURL) == .failure)
        let entry = try #require(try HAR(contentsOf: path).entries.first)
        #expect(entry.response.status == 0 && entry.response.error == "connectionFailed")
    }

    @Test func `a file that cannot be used is refused before anything is sent`() async throws {
        try folder.write("a text", as: "a.txt")
        let advice = "; give the name of a new file, or of an archive that --har has made\n"
        for (name, reason) in [
            ("a.txt", "it is no HTTP archive"), ("", "it cannot be written to: Is a directory"),
            ("none/a.har", "it cannot be written to: No such file or directory"),
        ] {
            let file = folder.path + (name.isEmpty ? "" : "/" + name)
            #expect(try await run("--har", file, server.baseURL) == .usage)
            #expect(try paper.remarked.hasSuffix("dunlin: --har: \(file): \(reason)\(advice)"), "\(name)")
            #expect(try await run("download", "-P", folder.path, "--har", file, server.baseURL + "/a") == .usage)
        }
        #expect(server.requests.isEmpty && folder.text(of: "a.txt") == "a text")
        #expect(throws: UsageError(description: "--har needs the name of a file; standard output has the body")) {
            try Command(arguments: ["--har", "-", "a.test"])
        }
    }

    @Test func `lost entries are said`() async throws {
        var settings = HARRecorder.Settings()
        settings.mostWaiting = 0
        var configuration = HTTPSession.Configuration()
        configuration.observers = [try HARRecorder(path, settings)]
        let session = try HTTPSession(configuration)
        _ = try await session.get(HTTP.Target(server.baseURL), as: .bytes)
        await session.shutdown()
        await configuration.finishArchive(paper.output)
        #expect(try paper.remarked.contains("1 entries were lost"))
    }

    // MARK: - Reading

    private static func entry(
        _ method: String, _ url: String, _ status: Int, after seconds: Double,
        _ change: (inout HAR.Entry) -> Void = { _ in }
    ) -> HAR.Entry {
        var timings = HAR.Timings()
        (timings.connect, timings.wait, timings.receive) = (10, 20, 10)
        var entry = HAR.Entry(
            at: Date(timeIntervalSince1970: 1_700_000_000 + seconds), HAR.Request(method, url), HAR.Response(status),
            timings)
        entry.response.content.mimeType = "application/json; charset=utf-8"
        entry.response.content.size = 2048
        change(&entry)
        return entry
    }

    private static let entries = [
        entry("GET", "https://a.test/users?page=1", 200, after: 0),
        entry("DELETE", "https://a.test/\u{1B}[2J\u{202E}users/a-rather-long-name-of-a-user/42", 404, after: 0.04),
        entry("GET", "https://b.test/", 0, after: 90_000) { entry in
            entry.response.error = "timedOut"
            (entry.response.content.size, entry.time) = (nil, -1)
            entry.response.bodySize = -1
        },
    ]

    private static func lines(_ columns: Int?) -> [String] {
        ArchiveTable(entries, columns: columns, style: DisplayStyle(hasColour: true, hasUnicode: true)).lines.map {
            $0.map(\.text).joined()
        }
    }

    @Test func `a terminal has a line for each entry, as wide as it is, with bars on one axis`() {
        // Of the day between the second and the third little is left.
        let expected = [
            "1 GET    200 json     2048 B 40.0 ms https://a.test/users?page=1            ━───━━",
            "2 DELETE 404 json     2048 B 40.0 ms https://a.test/[2Jusers/a…of-a-user/42       ━───━━",
            "3 GET      - timedOut      -       - https://b.test/                                     ━━───━",
        ]
        #expect(Self.lines(96) == expected)
        #expect(Self.lines(40).allSatisfy { !$0.contains("━") })
    }

    @Test func `a pipe has whole URLs`() async throws {
        try folder.write(try HAR(Self.entries).text, as: "a.har")
        #expect(try await run("har", path) == .success)
        let lines = try Paper.lines(of: paper.results)
        #expect(lines.count == 3 && lines[1].hasSuffix(" https://a.test/[2Jusers/a-rather-long-name-of-a-user/42"))
        #expect(try paper.remarked.isEmpty)
    }

    @Test func `an archive of a browser is shown`() async throws {
        try folder.write(
            #"""
            {"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[],"entries":[
            {"startedDateTime":"2026-01-02T03:04:05.678Z","time":12.5,"_priority":"High","request":{"method":"GET",
            "url":"https://a.test/","httpVersion":"h2","headers":[],"queryString":[],"cookies":[],"headersSize":-1,
            "bodySize":0},"response":{"status":200,"statusText":"","httpVersion":"h2","headers":[],"cookies":[],
            "content":{"size":1234,"mimeType":"text/html"},"redirectURL":"","headersSize":-1,"bodySize":-1},
            "cache":{},"timings":{"blocked":1.5,"dns":-1,"ssl":-1,"connect":-1,"send":0.5,"wait":10,"receive":0.5}}]}}
            """#, as: "a.har")
        #expect(try await run("har", path) == .success)
        #expect(try paper.said == "1 GET 200 html 1234 B 12.5 ms https://a.test/\n")
    }

    @Test func `what is torn, lost or secret is said`() async throws {
        var entries = Self.entries
        entries[0].response.content.text = "ghp_" + String(repeating: "a", count: 36)
        var har = HAR(entries)
        har.lost = 2
        try folder.write(try har.text, as: "a.har")
        #expect(try await run("har", path) == .success)
        #expect(
            try paper.remarked == """
                dunlin: warning: \(path) lacks 2 entries, lost when it was written
                dunlin: warning: entry 1, GET https://a.test/users?page=1: the response's body has a token of GitHub; \
                remove it before you give the file away

                """)
        try folder.write(try HAR(Self.entries).text.array.dropLast(50), as: "a.har")
        #expect(try await run("har", path) == .success)
        #expect(try paper.remarked.hasSuffix("warning: the end of \(path) is torn: what was written last is missing\n"))
        #expect(try Paper.lines(of: paper.results).count == 5)
    }

    @Test func `what is no archive is refused, with line and reason`() async throws {
        try folder.write("{\n\"log\":\n nothing}", as: "a.har")
        #expect(try await run("har", path) == .usage)
        #expect(try paper.remarked.hasPrefix("dunlin: \(path): line 3: "))
        #expect(try await run("har", folder.path + "/none") == .usage)
        #expect(try paper.remarked.hasSuffix("/none: it cannot be read: No such file or directory\n"))
        try #require(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(try await run("har", folder.path + "/pipe") == .usage)
        #expect(try paper.remarked.hasSuffix("/pipe: it is no regular file; write what a pipe brings to one first\n"))
        try folder.write("{}", as: "a.har")
        #expect(try await run("har", path) == .usage)
        #expect(try paper.remarked.contains("a.har: it is no HTTP archive"))
        for (words, reason) in [
            ([], "har needs a file; see dunlin help har"), (["a", "b"], "har takes one file; \"b\" is another"),
        ] {
            #expect(throws: UsageError(description: reason)) { try Command(arguments: ["har"] + words) }
        }
    }

    /// An archive's numbers are anybody's.
    @Test func `any times are drawn`() {
        var wild = Self.entry("GET", "a", 999_999, after: 1e15)
        wild.time = 1e300
        (wild.timings.wait, wild.timings.connect, wild.timings.ssl) = (1e300, -1e300, 1e300)
        wild.response.content.size = .max
        for entries in [[wild], Self.entries + [wild], [wild] + Self.entries, []] {
            let style = DisplayStyle(hasColour: false, hasUnicode: false)
            for columns in [nil, 20, 80, 1000] {
                #expect(ArchiveTable(entries, columns: columns, style: style).lines.count == entries.count)
            }
        }
    }
}
