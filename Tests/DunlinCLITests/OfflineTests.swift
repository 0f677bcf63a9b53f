import DunlinCommandLine
import DunlinTesting
import DunlinTypes
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// `--offline`: a request that is printed instead of sending.
@Suite(.timeLimit(.minutes(5))) struct OfflineTests {
    private let server: LoopbackServer
    private let folder: Folder

    init() throws {
        (server, folder) = (try LoopbackServer(), try Folder())
        server.respond { _ in .response(body: "body") }
        try folder.write("a file\n", as: "a.txt")
    }

    /// Runs the command; returns its code and what it printed. `DIR` in an argument is the folder.
    private func run(_ arguments: [String]) async throws -> (code: ExitCode, printed: String, remarked: String) {
        let paper = try Paper()
        let arguments = arguments.map { $0.replacing("DIR", with: folder.path) }
        let command = try Command(arguments: arguments + [server.baseURL + "/a?b=c"])
        let code = await DunlinCommand.run(command, paper.output)
        return (code, try paper.said, try paper.remarked)
    }

    @Test(
        arguments: [
            [], ["-d", "x=1"], ["--json", "[1]"], ["-X", "POST"], ["-TDIR/a.txt"], ["-X", "DELETE"], ["-I"],
            ["-d", "@DIR/a.txt"], ["-b", "a=1", "-A", "", "-H", "Host: b.test", "--bearer", "hunter2"],
            ["-Gd", "q=1"], ["-H", "Content-Length: 3", "-d", "abc"], ["-F", "a=b;type=text/plain", "-H", "Accept:"],
        ])
    func `what is printed is what a server would get`(arguments: [String]) async throws {
        let (code, printed, remarked) = try await run(["--offline", "--show-secrets"] + arguments)
        #expect(code == .success && remarked.isEmpty && server.requests.isEmpty)
        #expect(try await run(arguments).code == .success)
        let request = try #require(server.requests.last)
        var lines = ["\(request.method) \(request.target) HTTP/1.1"]
        lines += request.fields.map { "\($0.name): \($0.value)" }
        let sent = lines.joined(separator: "\n") + "\n\n" + String(decoding: request.body, as: UTF8.self)
        // Each form has a boundary of its own.
        #expect(printed.replacing(/Boundary\+\w+/, with: "") == sent.replacing(/Boundary\+\w+/, with: ""))
    }

    @Test func `secret values of the head are left out`() async throws {
        let secrets = ["--bearer", "hunter2", "-b", "sid=hunter2", "-G", "-d", "token=hunter2"]
        let (_, printed, _) = try await run(["--offline"] + secrets)
        #expect(!printed.contains("hunter2") && printed.contains("Authorization: ") && printed.contains("Cookie: "))
    }

    @Test func `nobody is asked for a password that would not be sent`() async throws {
        let (code, printed, _) = try await run(["--offline", "-u", "ada"])
        #expect(code == .success && !printed.contains("Authorization"))
    }

    @Test func `neither cache nor session is touched`() async throws {
        let own = SessionFolder(path: folder.path + "/sessions")
        let paper = try Paper()
        let words = ["--offline", "--session", "s", "--cache", "-u", "ada:hunter2", server.baseURL]
        guard case .get(let url, let options) = try Command(arguments: words) else { return }
        #expect(try await Get(url: url, options: options, output: paper.output, sessions: own).run() == .success)
        #expect(own.names().isEmpty && server.requests.isEmpty)
    }

    @Test(arguments: [
        (["--offline", "--curl"], "--curl and --offline both print the request instead of sending it; use one"),
        (["--show-secrets"], "--show-secrets needs --curl or --offline as well"),
        (["--offline", "--har", "a.har"], "--offline sends nothing, and --har tells what came of it; use one"),
        (["--curl", "-w", "x"], "--curl sends nothing, and -w tells what came of it; use one"),
    ])
    func `what does not fit is refused`(arguments: [String], reason: String) {
        #expect(throws: UsageError(description: reason)) { try Command(arguments: arguments + ["a.test"]) }
    }
}
