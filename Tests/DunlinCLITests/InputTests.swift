import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// Bodies from files that are no regular ones, and files that are not there.
@Suite(.timeLimit(.minutes(5))) struct InputTests {
    private let server: LoopbackServer
    private let folder: Folder
    private let paper: Paper

    init() throws {
        (server, folder, paper) = (try LoopbackServer(), try Folder(), try Paper())
        server.respond { _ in .response(body: "") }
    }

    private func run(_ arguments: [String]) async throws -> ExitCode {
        await DunlinCommand.run(try Command(arguments: [server.baseURL + "/a"] + arguments), paper.output)
    }

    /// A pipe that somebody writes to.
    private func pipe(_ text: String) throws -> String {
        let path = "\(folder.path)/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        Thread.detachNewThread {
            let descriptor = open(path, O_WRONLY)
            _ = write(descriptor, text, text.utf8.count)
            close(descriptor)
        }
        return path
    }

    @Test(arguments: [
        ["-d", "@PIPE"], ["--data-binary", "@PIPE"], ["--json", "@PIPE"], ["-T", "PIPE"],
        ["-T", "PIPE", "-u", "a:b"], ["--data-urlencode", "@PIPE"],
    ])
    func `a pipe is a body`(arguments: [String]) async throws {
        let pipe = try pipe("[1]")
        #expect(try await run(arguments.map { $0.replacing("PIPE", with: pipe) }) == .success)
        let body = try #require(server.requests.last?.body)
        #expect(body == (arguments[0] == "--data-urlencode" ? "%5B1%5D" : "[1]"))
    }

    @Test(arguments: [["-F", "a=@PIPE"], ["a@PIPE"], ["-F", "a=<PIPE"]])
    func `a pipe is a part of a form`(arguments: [String]) async throws {
        let pipe = try pipe("from a pipe")
        #expect(try await run(arguments.map { $0.replacing("PIPE", with: pipe) }) == .success)
        let body = String(decoding: try #require(server.requests.last).body.array, as: UTF8.self)
        #expect(body.contains("\r\n\r\nfrom a pipe\r\n--"), "\(body)")
        #expect(body.contains("filename=\"pipe\"") == !arguments.joined().contains("<"))
    }

    @Test(arguments: [
        ["-d", "@/nowhere"], ["-T", "/nowhere"], ["-F", "a=@/nowhere"], ["a@/nowhere"], ["--bearer", "@/nowhere"],
        ["--cacert", "/nowhere"], ["--cert", "/nowhere"], ["--cert", "/dev/null", "--key", "/nowhere"],
        ["--proxy-cacert", "/nowhere"],
    ])
    func `a file that is not there is an error of the arguments, and is named once`(arguments: [String]) async throws {
        #expect(try await run(arguments) == .usage)
        #expect(try paper.remarked == "dunlin: the file /nowhere cannot be read: No such file or directory\n")
        #expect(server.requests.isEmpty)
    }

    @Test func `a folder is no body`() async throws {
        #expect(try await run(["-T", folder.path]) == .usage)
        #expect(try paper.remarked == "dunlin: the file \(folder.path) cannot be read: Is a directory\n")
    }

    @Test(arguments: [
        ("t\n", "t"), ("t\r\n", "t"), ("t", "t"), ("t\n\n", nil), ("t\r", nil), ("t\nu", nil), ("\n", nil),
    ])
    func `a file has a token and one line end`(text: String, token: String?) async throws {
        let file = try folder.write(text, as: "token")
        #expect(try await run(["--bearer", "@\(file)"]) == (token == nil ? .usage : .success))
        #expect(server.requests.last?.fields["authorization"] == token.map { "Bearer \($0)" })
    }

    @Test func `an argument that is not UTF-8 is refused by its number`() throws {
        #expect(try Arguments.texts(of: [Array("é".utf8), []]) == ["é", ""])
        let complaint = "argument 2 is not UTF-8; give such a text, or what such a file has, on standard input"
        #expect(throws: UsageError(description: complaint)) { try Arguments.texts(of: [[0x61], [0x73, 0xE9]]) }
    }
}
