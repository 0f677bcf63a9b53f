import Dunlin
import DunlinCommandLine
import DunlinTesting
import Testing

@testable import DunlinCLI

/// Fields by curl's rules, against a server, and what is said of arguments that may be secrets.
@Suite(.timeLimit(.minutes(5))) struct FieldLineTests {
    private static func fields(_ arguments: [String]) async throws -> Fields {
        let (server, paper) = (try LoopbackServer(), try Paper())
        defer { server.stop() }
        server.respond { _ in .response(body: "") }
        let command = try Command(arguments: [server.baseURL] + arguments)
        #expect(await DunlinCommand.run(command, paper.output) == .success)
        return try #require(server.requests.last).fields
    }

    @Test(
        arguments: [
            (["-H", "Accept:"], "accept", []), (["-H", "user-agent: "], "user-agent", []), (["Accept:"], "accept", []),
            (["-H", "Accept-Encoding:"], "accept-encoding", []), (["-H", "X-E;"], "x-e", [""]),
            (["X-E;"], "x-e", [""]), (["-d", "x", "-H", "Content-Type:"], "content-type", []),
            (["--json", "1", "-H", "Accept:"], "accept", []), (["a=1", "-H", "Accept:"], "accept", []),
            (["-H", "Accept:", "-H", "Accept: a/b"], "accept", ["a/b"]), (["-H", "X-A:\tb: c;"], "x-a", ["b: c;"]),
            (["-b", "a=1", "-b", "b=2; c=3"], "cookie", ["a=1; b=2; c=3"]),
            (["-b", "a=1", "Cookie:b=2"], "cookie", ["b=2; a=1"]),
            (["-e", "http://a.test", "-e", "http://b.test"], "referer", ["http://b.test"]),
            (["-H", "X-A: \u{301}"], "x-a", ["\u{301}"]),
        ] as [([String], String, [String])])
    func `a line without a value leaves a field out, and one with a semicolon sends it empty`(
        arguments: [String], name: String, values: [String]
    ) async throws {
        #expect(try await Self.fields(arguments).values(of: name) == values)
    }

    @Test(arguments: [
        (["-H", "Host:"], "a request cannot do without the field Host"),
        (["-H", "Content-Length:"], "a request cannot do without the field Content-Length"),
        (["-H", "@file"], "-H needs \"Name: value\"; there is no colon after a name, and no file is read"),
        (["-H", ";"], "-H needs \"Name: value\"; there is no colon after a name"),
        (["-b", "a=1\r\nX: y"], "the field Cookie has a control character in its value"),
    ])
    func `a line that makes no sense is refused`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: ["a.test"] + arguments) }
    }

    @Test(arguments: [
        ["-H", "Bearer hunter2"], ["-H", "Bearer hunter2:x"], ["-H", "hunter2 x;"], ["-b", "=hunter2\n"],
        ["-u", ":hunter2"],
        ["--bearer hunter2"], ["--digest=ada:hunter2"], ["--Bearer hunter2"], ["-zhunter2"], ["-F", "hunter2"],
        ["-F", "a=hunter2;type="], ["--form-string", "hunter2"], ["password:=hunter2"], ["-ksLzhunter2"],
        ["-H", "Authorization: hunter2\n"], ["http://ada:hunter2@b.test/"], ["http://b.test/?token=hunter2"],
    ])
    func `no complaint shows what may be a secret`(arguments: [String]) throws {
        let error = #expect(throws: UsageError.self) { try Command(arguments: ["a.test"] + arguments) }
        #expect(error?.description.contains("hunter2") == false, "\(error?.description ?? "")")
    }

    @Test func `only the head is shown by any method`() async throws {
        let (server, paper) = (try LoopbackServer(), try Paper())
        defer { server.stop() }
        server.respond { _ in .response(fields: ["X-A": "1"], body: "the body") }
        let command = try Command(arguments: ["-I", "-X", "POST", server.baseURL])
        #expect(await DunlinCommand.run(command, paper.output) == .success)
        #expect(server.requests.map(\.method) == [.post])
        #expect(try paper.said.hasPrefix("200 OK\n") && paper.said.contains("X-A: 1\n"))
        #expect(try !paper.said.contains("the body"))
    }

    @Test func `a password in a URL is warned about over http`() async throws {
        let (server, paper) = (try LoopbackServer(), try Paper())
        defer { server.stop() }
        server.respond { _ in .response(body: "") }
        let url = server.baseURL.replacing("http://", with: "http://ada:hunter2@")
        #expect(await DunlinCommand.run(try Command(arguments: [url]), paper.output) == .success)
        let warning = "over http the password can be read on its way if the server asks for Basic"
        #expect(try paper.remarked == "dunlin: warning: \(warning)\n")
    }
}
