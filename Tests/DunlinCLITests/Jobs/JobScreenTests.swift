import Children
import Dunlin
import DunlinTesting
import Folders
import Foundation
import Screens
import Testing

@testable import DunlinCLI

/// What a person sees of jobs: the program on a narrow terminal and on a wide one, with colours and without.
@Suite(.timeLimit(.minutes(10))) struct JobScreenTests {
    private let site: JobSite

    init() throws { site = try JobSite() }

    /// Runs the program on a terminal of its own, and returns the screen when it has ended.
    private func screen(
        _ arguments: [String], columns: Int, hasColour: Bool = false,
        meanwhile: (PseudoTerminal) async throws -> Void = { _ in }
    ) async throws -> (screen: Screens.Screen, status: Int32) {
        let terminal = try PseudoTerminal(columns: columns)
        let variables = site.environment + ["TERM=xterm-256color"] + (hasColour ? [] : ["NO_COLOR=1"])
        // So that what asks for a password finds the terminal.
        let child = try Child(
            "setsid", ["-c", try PseudoTerminal.program] + arguments, in: site.folder.path, environment: variables,
            descriptors: [0: terminal.device, 1: terminal.device, 2: terminal.device])
        do { try await meanwhile(terminal) } catch {
            child.stop()
            throw error
        }
        let end = await child.ended()
        let screen = Screens.Screen(columns: columns, showing: terminal.finishedText())
        #expect(screen.problems == [])
        return (screen, end.status)
    }

    /// The same with colours and without: only the colours differ. Returns the rows, and the lines with styles.
    private func screens(_ arguments: [String], columns: Int, status: Int32 = 0) async throws -> (
        rows: [String], styled: [String]
    ) {
        let (plain, code) = try await screen(arguments, columns: columns)
        let (coloured, _) = try await screen(arguments, columns: columns, hasColour: true)
        #expect(code == status)
        #expect(plain.rows == coloured.rows)
        #expect(plain.styledText == plain.text, "NO_COLOR means no style")
        return (plain.rows, coloured.styledText)
    }

    private func url(_ path: String) -> String { site.server.baseURL + path }

    // MARK: - Bodies and heads

    @Test(arguments: [60, 100]) func `JSON has a line for each value, and its colours`(columns: Int) async throws {
        let (rows, styled) = try await screens([url("/users/42")], columns: columns)
        let long = "  \"bio\": \"A small wader: it goes far, on little. It breeds in the far north.\","
        let bio = columns == 60 ? [String(long.prefix(60)), String(long.dropFirst(60))] : [long]
        try #require(
            rows == ["{", "  \"id\": 42,", "  \"name\": \"Ada\","] + bio
                + ["  \"tags\": [", "    \"wader\",", "    null", "  ]", "}", ""])
        #expect(styled[1] == "  [1]\"id\"[0]: [35]42[0],")
        #expect(styled[2] == "  [1]\"name\"[0]: [32]\"Ada\"[0],")
        #expect(styled[6] == "    [36]null[0]")
    }

    @Test(arguments: [60, 100]) func `a head has its fields in lines, and a status in its colour`(
        columns: Int
    ) async throws {
        let (rows, styled) = try await screens(["-i", url("/")], columns: columns)
        #expect(rows == ["200 OK", "Content-Type: text/html", "Content-Length: 11", "", "<p>page</p>", ""])
        #expect(styled.prefix(2) == ["[1;32]200 OK[0]", "[1]Content-Type[0]: text/html"])
        let head = try await screens(["-I", url("/")], columns: columns)
        #expect(head.rows.prefix(2) == ["200 OK", "Content-Type: text/html"])
    }

    @Test(arguments: [60, 100]) func `an error has a line of its own below a body without a line's end`(
        columns: Int
    ) async throws {
        let (rows, _) = try await screens([url("/gone")], columns: columns, status: 3)
        #expect(rows == ["it is not here", "dunlin: the server answered 404 Not Found", ""])
    }

    @Test func `in a pipe the body is what the server sent, and nothing else`() async throws {
        for (path, body) in [("/users/42", JobSite.person), ("/gone", "it is not here")] {
            let run = try await site.run("dunlin api.test\(path) | cat", of: .dunlin)
            #expect(run.printed == body)
            #expect(!run.remarked.contains("\u{1B}"))
        }
    }

    // MARK: - Bars

    /// Without what depends on the time: rates, and how long it takes or took.
    private static func masked(_ row: String) -> String {
        row.replacing(/\ +[0-9.]+ ([KMG]i)?B\/s/, with: " RATE").replacing(/\ +\d+:\d\d/, with: " TIME")
    }

    @Test(arguments: [60, 100]) func `a download shows how far it is, and how it ended`(columns: Int) async throws {
        let half = LoopbackServer.Gate()
        site.server.route("/files/disk.img") { _, request in
            let entity = JobSite.disk
            return [
                .message(.init(200, fields: ["Content-Length": "\(entity.length)", "ETag": "\"v1\""])),
                .generated(0..<entity.length / 2), .waitForSignal(half),
                .generated(entity.length / 2..<entity.length),
            ]
        }
        let arguments = ["-o", "disk.img", url("/files/disk.img")]
        var middle: [String] = []
        let (screen, status) = try await screen(arguments, columns: columns) { terminal in
            defer { half.open() }
            try await eventually("the bar is at the half") {
                middle = Screens.Screen(columns: columns, showing: String(decoding: terminal.shown, as: UTF8.self)).rows
                return middle.contains { $0.contains("50%") }
            }
        }
        #expect(status == 0)
        let row = Self.masked(middle.first { $0.contains("50%") } ?? "")
        #expect(row.hasPrefix("disk.img  ━"), "\(middle)")
        #expect(middle.allSatisfy { $0.unicodeScalars.count <= columns })
        // A narrow terminal has no room for the sizes.
        #expect(row.contains("488 KiB/977 KiB") == (columns == 100), "\(row)")
        let end = screen.rows.filter { !$0.isEmpty }
        #expect(end.count == 1 && end[0].hasPrefix("disk.img  ━") && end[0].contains("done"), "\(end)")
        #expect(screen.isAtStartOfEmptyLine)
    }

    @Test(arguments: [60, 100]) func `an upload shows each file and the total, and how they ended`(
        columns: Int
    ) async throws {
        for name in ["a.img", "b.img"] { try site.folder.write([UInt8](repeating: 7, count: 300_000), as: name) }
        let arguments = ["upload", "a.img", "b.img", url("/files/")]
        let (screen, status) = try await screen(arguments, columns: columns)
        #expect(status == 0)
        let rows = screen.rows.filter { !$0.isEmpty }.map(Self.masked)
        // Which of the two is first depends on the server.
        let names = rows.map { $0.prefix { $0 != " " } }
        #expect(names.count == 3 && Set(names.prefix(2)) == ["a.img", "b.img"] && names.last == "total", "\(rows)")
        #expect(rows.prefix(2).allSatisfy { $0.contains("━  done") }, "\(rows)")
        #expect(rows.last?.contains("━  2/2") == true, "\(rows)")
        #expect(screen.rows.allSatisfy { $0.unicodeScalars.count <= columns })
        #expect(screen.isAtStartOfEmptyLine)
    }

    // MARK: - Questions and help

    @Test func `an interrupt ends the question for a password, and the program`() async throws {
        let (screen, status) = try await screen(["-u", "ada", url("/me")], columns: 60) { terminal in
            try await eventually("the question is there") {
                String(decoding: terminal.shown, as: UTF8.self).contains("password of ada: ")
            }
            let interrupt: [UInt8] = [0x03]
            _ = write(terminal.control, interrupt, 1)
        }
        #expect(status == SIGINT && screen.rows.count { $0.contains("password of ada:") } == 1, "\(screen.rows)")
        #expect(site.server.requests.isEmpty)
    }

    @Test(arguments: [60, 100]) func `a password is asked for, and never shown`(columns: Int) async throws {
        let (screen, status) = try await screen(["-u", "ada", url("/me")], columns: columns) { terminal in
            try await eventually("the question is there") {
                String(decoding: terminal.shown, as: UTF8.self).contains("password of ada: ")
            }
            let typed = Array("secret\r".utf8)
            _ = write(terminal.control, typed, typed.count)
        }
        #expect(status == 0)
        let rows = screen.rows.filter { !$0.isEmpty }
        #expect(rows.contains("password of ada:") && rows.last == "hello Ada", "\(rows)")
        #expect(!rows.contains { $0.contains("secret") })
        #expect(site.server.requests.last?.fields["authorization"] == "Basic YWRhOnNlY3JldA==")
    }

    @Test(arguments: [60, 100]) func `no line of a help is wrapped by the terminal`(columns: Int) async throws {
        for topic in [[], ["get"], ["download"], ["upload"], ["session"], ["print"], ["send"], ["trust"]] {
            let (screen, status) = try await screen(["help"] + topic, columns: columns)
            #expect(status == 0)
            #expect(screen.rows == screen.text, "\(topic)")
            #expect(screen.rows.first?.isEmpty == false)
        }
    }
}
