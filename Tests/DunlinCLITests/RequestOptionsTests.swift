import Dunlin
import DunlinCommandLine
import DunlinTesting
import Testing

@testable import DunlinCLI

/// What the command line sends.
@Suite(.timeLimit(.minutes(10))) struct RequestOptionsTests {
    private static func options(_ arguments: String...) throws -> RequestOptions {
        guard case .get(_, let options) = try Command(arguments: arguments + ["http://a.test"]) else {
            throw UsageError(description: "no request")
        }
        return options.request
    }

    @Test func `methods, fields and bodies are what the arguments say`() throws {
        #expect(try Self.options("get") == RequestOptions())
        #expect(try Self.options("get").httpMethod == .get)
        #expect(try Self.options("get", "-d", "a=1").httpMethod == .post)
        #expect(try Self.options("get", "-d", "a=1", "-X", "PUT").httpMethod == .put)
        #expect(try Self.options("delete").httpMethod == .delete)
        #expect(try Self.options("get", "-H", "X-A: 1", "-H", "X-A:2").fields.values(of: "x-a") == ["1", "2"])
        #expect(try Self.options("get", "-d", "a", "-d", "@b", "-d", "@-").data == [.text("a"), .file("b"), .input])
        let json = try Self.options("post", "--json", #"{"a":1}"#)
        #expect(json.sentFields["accept"] == "application/json")
        #expect(try json.body().contentType == "application/json")
        guard case .bytes(let bytes) = try Self.options("post", "-d", "a=1", "-d", "b=2").body().content else {
            Issue.record("no bytes")
            return
        }
        #expect(bytes == "a=1&b=2")
        #expect(try Self.options("get", "--max-time", "1.5").options.timeouts.total == .value(.milliseconds(1500)))
        #expect(try Self.options("get", "--user", "ada:a:b").user?.password == "a:b")
        #expect(try Self.options("get", "--user", "ada").user?.password == nil)
    }

    @Test(arguments: [
        (["-H", "nothing"], "-H needs \"Name: value\"; there is no colon after a name"),
        (["-H", ": x"], "-H needs \"Name: value\"; there is no colon after a name"),
        (["-H", "a b: c"], "-H needs \"Name: value\"; what is before the colon is not a field's name"),
        (["-H", "a: \u{1}"], "the field a has a control character in its value"),
        (["-A", "a\nb"], "the field User-Agent has a control character in its value"),
        (["-X", "a b"], "\"a b\" is not a method; -X needs a word such as PUT"),
        (["-X", "TRACE"], "this command cannot send TRACE requests"),
        (["--max-time", "0"], "--max-time needs a number of seconds above 0 and at most 1000000, not \"0\""),
        (["--max-time", "soon"], "--max-time needs a number of seconds above 0 and at most 1000000, not \"soon\""),
        (["--user", ":x"], "--user needs NAME:PASSWORD, or NAME to be asked for the password"),
        (["--digest"], "--digest needs --user NAME:PASSWORD as well"),
        (["--user", "a:b", "--bearer", "t"], "credentials are given twice: by --user and --bearer; give one"),
        (
            ["--bearer", "t", "-H", "Authorization: x"],
            "credentials are given twice: by -H Authorization and --bearer; give one"
        ),
        (["--json", "1", "-d", "a"], "--json and -d both give a body; use one"),
        (["--json", "1", "--json", "2"], "--json may be given only once: a body is a single JSON value"),
        (["-d", "@-", "-d", "@-"], "standard input can be read once, and two arguments ask for it"),
        (["--show-secrets"], "--show-secrets needs --curl or --offline as well"),
        (["-d"], "-d needs a value"),
        (["--guard", "all"], "--guard takes only the word public, not \"all\""),
        (["--noproxy", "a"], "--noproxy LIST needs --proxy; without --proxy it must be \"*\", for no proxy at all"),
        (["--proxy"], "--proxy needs a value"),
    ])
    func `arguments that make no sense are refused with what to do`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) {
            try Command(arguments: ["get", "http://a.test"] + arguments)
        }
    }

    @Test func `a missing file is complained about by its name`() throws {
        let options = try Self.options("post", "-d", "@/nowhere/a", "-d", "b")
        let complaint = UsageError(description: "the file /nowhere/a cannot be read: No such file or directory")
        #expect(throws: complaint) { _ = try options.body() }
    }

    @Test(arguments: [
        (
            ["-u", "a:b", "http://u:hunter2@127.0.0.1:1/"],
            "credentials are given twice: by --user and in the URL; give one"
        ),
        (["-d", "@/nowhere/a", "http://127.0.0.1:1/"], "the file /nowhere/a cannot be read"),
        (["--bearer", "", "http://127.0.0.1:1/"], "--bearer needs one token"),
        (["--bearer", "a b", "http://127.0.0.1:1/"], "--bearer needs one token"),
    ])
    func `what is found to make no sense later is complained about like the rest`(
        arguments: [String], complaint: String
    ) async throws {
        let paper = try Paper()
        let code = await DunlinCommand.run(try Command(arguments: ["get"] + arguments), paper.output)
        #expect(code == .usage)
        #expect(try paper.remarked.hasPrefix("dunlin: \(complaint)"))
        #expect(try !paper.remarked.contains("hunter2"))
    }

    @Test func `head shows status and fields`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(fields: ["X-A": "1"], body: ""))
        let end = try await run("head", server: server)
        #expect(end.code == .success)
        #expect(end.said.hasPrefix("200 OK\n"), "\(end.said)")
        #expect(end.said.contains("\nX-A: 1\n"))
    }

    @Test func `a command is printed as it is, and affects no terminal`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let tab = try await run("post", "--curl", "--show-secrets", "-d", "a\tb\u{A0}", server: server)
        #expect(tab.said.contains("--data-binary 'a\tb\u{A0}'"), "\(tab.said)")
        let turned = try await run(
            "get", "--curl", "--show-secrets", "-u", "ada:\u{202E}x", server: server)
        #expect(turned.said.contains(#"--user "$(printf 'ada:\342\200\256x')""#), "\(turned.said)")
        #expect(!turned.said.contains("\u{202E}"))
    }

    private func run(
        _ arguments: String..., server: LoopbackServer, path: String = "/a"
    ) async throws -> (code: ExitCode, said: String, remarked: String) {
        let paper = try Paper()
        let code = await DunlinCommand.run(
            try Command(arguments: arguments + [server.baseURL + path]), paper.output)
        return (code, try paper.said, try paper.remarked)
    }

    @Test func `a command is printed, and nothing is sent`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let shown = try await run(
            "post", "--curl", "--bearer", "hunter2", "-d", "password=hunter2&a=it's", server: server,
            path: "/a?token=hunter2")
        #expect(shown.code == .success)
        #expect(shown.said.hasPrefix("curl '\(server.baseURL)/a?token=***' --http1.1 "), "\(shown.said)")
        #expect(shown.said.contains("--data-binary @-") && !shown.said.contains("it's"), "\(shown.said)")
        let whole = try await run("get", "--curl", "--show-secrets", "--bearer", "hunter2", server: server)
        #expect(whole.said.contains("-H 'Authorization: Bearer hunter2'"))
        #expect(server.requests.isEmpty)
    }

    @Test func `a trace goes to standard error, and the body to standard output`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.enqueue(.response(body: "hello"))
        let end = try await run("get", "--trace", "-X", "PUT", "--json", "[1]", server: server)
        #expect(end.code == .success)
        #expect(end.said == "hello")
        #expect(end.remarked.contains(" > PUT /a HTTP/1.1\n"), "\(end.remarked)")
        #expect(end.remarked.contains(" < HTTP/1.1 200 OK\n"))
        let request = try #require(server.requests.first)
        #expect(request.method == .put && request.body == "[1]")
        #expect(request.fields["content-type"] == "application/json")
        #expect(request.fields["user-agent"]?.hasPrefix("dunlin/\(DunlinCommand.version) (Linux ") == true)
    }

    @Test func `a password answers Digest and Basic, and with --digest never Basic`() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        let basic = LoopbackServer.Reply.response(401, fields: ["WWW-Authenticate": "Basic realm=x"])
        server.enqueue(basic, .response(body: "in"), basic)
        let sent = try await run("get", "--user", "ada:hunter2", server: server)
        #expect(sent.code == .success && sent.said == "in")
        #expect(sent.remarked.hasPrefix("dunlin: warning: over http the password can be read on its way"))
        #expect(server.requests.last?.fields["authorization"] == "Basic YWRhOmh1bnRlcjI=")
        let refused = try await run("get", "--user", "ada:hunter2", "--digest", server: server)
        #expect(refused.code == .failure)
        #expect(
            refused.remarked.hasPrefix(
                "dunlin: the server accepts only Basic, which sends the password itself; leave out --digest "
                    + "to allow that"
            ),
            "\(refused.remarked)")
        #expect(server.requests.count == 3)
        #expect(!refused.remarked.contains("hunter2") && !sent.remarked.contains("hunter2"))
    }
}
