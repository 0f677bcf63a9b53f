import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// Options that people know from curl, against a server.
@Suite(.timeLimit(.minutes(5))) struct CurlOptionsTests {
    private let server: LoopbackServer
    private let folder: Folder
    private let paper: Paper

    init() throws {
        (server, folder, paper) = (try LoopbackServer(), try Folder(), try Paper())
        server.respond { _ in .response(body: "body") }
        try folder.write("a file\n", as: "a b.txt")
    }

    /// Runs the command. `DIR` in an argument is the folder.
    private func run(_ arguments: [String], path: String = "/a") async throws -> ExitCode {
        let arguments = arguments.map { $0.replacing("DIR", with: folder.path) }
        return await DunlinCommand.run(try Command(arguments: arguments + [server.baseURL + path]), paper.output)
    }

    @Test func `a compressed part that was asked for is written with a warning`() async throws {
        server.respond { _ in
            .response(206, fields: ["Content-Encoding": "gzip", "Content-Range": "bytes 0-3/9"], body: "part")
        }
        let code = try await run(["-H", "Accept-Encoding: gzip", "-H", "Range: bytes=0-3"])
        #expect(code == .success)
        #expect(try paper.said == "part")
        #expect(try paper.remarked.contains("the part is compressed (gzip) and cannot be decompressed alone"))
    }

    private static let form = "application/x-www-form-urlencoded"

    @Test(
        arguments: [
            (["-XPUT", "-d", "x"], "PUT", "/a", "x"), (["-d", "a=1", "-db=2"], "POST", "/a", "a=1&b=2"),
            (["-Gd", "a=1", "-d", "b= 2"], "GET", "/a?a=1&b=%202", ""),
            (["-G", "--data-urlencode", "q=a&b", "-X", "DELETE"], "DELETE", "/a?q=a%26b", ""),
            (["--data-urlencode", "a b"], "POST", "/a", "a%20b"), (["--data-urlencode", "=a="], "POST", "/a", "a%3D"),
            (["--data-urlencode", "n@DIR/a b.txt"], "POST", "/a", "n=a%20file%0A"),
            (["--data-raw", "@x"], "POST", "/a", "@x"), (["--data-binary", "@DIR/a b.txt"], "POST", "/a", "a file\n"),
            (["-TDIR/a b.txt"], "PUT", "/a", "a file\n"),
            (["-T", "DIR/a b.txt", "-X", "POST"], "POST", "/a", "a file\n"),
            (["-Iv"], "HEAD", "/a", ""), (["-fSLN", "--compressed", "--http1.1"], "GET", "/a", ""),
        ])
    func `a request is what the options say`(
        arguments: [String], method: String, target: String, body: String
    ) async throws {
        #expect(try await run(arguments) == .success)
        let request = try #require(server.requests.last)
        #expect(request.method == HTTP.Method(method) && request.target == target)
        #expect(request.body == Bytes(body))
        let isForm = !body.isEmpty && !arguments[0].hasPrefix("-T")
        #expect(request.fields["content-type"] == (isForm ? Self.form : nil))
    }

    @Test func `a file is uploaded under its name where the URL ends with a slash`() async throws {
        #expect(try await run(["-T", "DIR/a b.txt"], path: "/in/") == .success)
        #expect(try await run(["-T", "DIR/a b.txt"], path: "") == .success)
        #expect(try await run(["-T", "DIR/a b.txt"], path: "/in/?x=/") == .success)
        #expect(try await run(["-T", "DIR/a b.txt"], path: "?x") == .success)
        #expect(try await run(["-T", "DIR/a b.txt"], path: "/in?x/") == .success)
        let targets = ["/in/a%20b.txt", "/a%20b.txt", "/in/a%20b.txt?x=/", "/a%20b.txt?x", "/in?x/"]
        #expect(server.requests.map(\.target) == targets)
    }

    @Test func `fields are what the options say`() async throws {
        let arguments = ["-A", "me/1", "-e", "http://b.test/", "-b", "a=1; b=2", "-HX-A:1", "--header=X-B: 2"]
        #expect(try await run(arguments) == .success)
        #expect(try await run(["-A", ""]) == .success)
        let fields = try #require(server.requests.first).fields
        #expect(fields["user-agent"] == "me/1" && fields["referer"] == "http://b.test/")
        #expect(fields["cookie"] == "a=1; b=2" && fields["x-a"] == "1" && fields["x-b"] == "2")
        #expect(server.requests.last?.fields["user-agent"] == nil)
    }

    @Test func `a form has parts of text and from disk`() async throws {
        let parts = [
            "-F", "a=1", "-F", "b=@DIR/a b.txt;type=text/csv;filename=c.csv", "-Fd=<DIR/a b.txt", "-Fe=@DIR/a b.txt",
        ]
        #expect(try await run(parts) == .success)
        let request = try #require(server.requests.last)
        #expect(request.method == .post)
        #expect(request.fields["content-type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        let body = String(decoding: request.body.array, as: UTF8.self)
        #expect(body.contains("name=\"a\"\r\n\r\n1\r\n"))
        #expect(
            body.contains("name=\"b\"; filename=\"c.csv\"\r\nContent-Type: text/csv\r\n\r\na file\n\r\n"), "\(body)")
        #expect(body.contains("name=\"d\"\r\n\r\na file\n\r\n"), "\(body)")
        #expect(body.contains("name=\"e\"; filename=\"a b.txt\"\r\nContent-Type: text/plain"), "\(body)")
    }

    @Test(arguments: [
        (["-F", "x"], "-F needs NAME=VALUE or NAME=@FILE; there is no = after a name"),
        (["-F", "a=@b;c"], "after a file -F takes only ;type= and ;filename="),
        (["-F", "a=@"], "-F needs a file after @; @- is standard input"),
        (["-F", "a=1", "-d", "b"], "-d and -F both give a body; use one"),
        (["-T", "a", "--json", "1"], "--json and -T both give a body; use one"),
        (["-T-", "--bearer", "@-"], "standard input can be read once, and two arguments ask for it"),
        (["-G"], "-G needs -d as well, and nothing else"),
        (["-G", "-F", "a=1"], "-G needs -d as well, and nothing else"),
        (["-I", "-d", "a"], "-I asks for the head only, and -d gives a body; use one"),
        (["-b", "-", "-d", "@-"], "standard input can be read once; -b - reads it, too"),
        (["-o", "a", "-O"], "-o and -O both name a file; use one"), (["-C", "-"], "-C needs -o or -O as well"),
        (["-C", "5", "-oa"], "-C takes only -, which finds out where to continue, not \"5\""),
        (["--max-redirs", "x"], "--max-redirs needs a number from 0 to 1000, not \"x\""),
        (["-m0"], "-m needs a number of seconds above 0 and at most 1000000, not \"0\""),
        (["--resolve", "a"], "--resolve needs HOST:PORT:ADDRESS, such as a.test:443:127.0.0.1, not \"a\""),
        (["--resolve", "a:0:::1"], "--resolve needs HOST:PORT:ADDRESS, such as a.test:443:127.0.0.1, not \"a:0:::1\""),
        (["-O"], "-O needs a URL whose path ends with a name; use -o FILE"),
        (["-I", "-o", "a"], "a HEAD request has no body to write; -o and -O need another method"),
        (["http://me:secret@b.test/"], "dunlin takes one URL; \"http://…@b.test/\" is another"),
        (["http://b.test/?token=secret"], "dunlin takes one URL; \"http://b.test/?…\" is another"),
        (["-IXGET", "-o", "a"], "-I asks for the head only; there is no body for -o and -O to write"),
    ])
    func `options that do not fit together are refused`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: ["a.test"] + arguments) }
    }

    @Test func `redirects are followed, as many as allowed`() async throws {
        server.respond { request in
            request.target == "/a" ? .response(302, fields: ["Location": "/b"], body: "go") : .response(body: "there")
        }
        #expect(try await run(["-L"]) == .success)
        #expect(try await run([]) == .success)
        #expect(try paper.said == "therethere")
        #expect(try await run(["--max-redirs", "0"]) == .refused)
        #expect(server.requests.count == 5)
        #expect(try await run(["--max-redirs=1"]) == .success)
    }

    @Test func `a refusal's body is left out on demand, and its error too`() async throws {
        server.respond { _ in .response(404, body: "long page") }
        #expect(try await run(["-f"]) == .refused)
        #expect(try paper.said.isEmpty)
        #expect(try paper.remarked == "dunlin: the server answered 404 Not Found\n")
        #expect(try await run(["-fs"]) == .refused)
        #expect(try paper.remarked == "dunlin: the server answered 404 Not Found\n")
        #expect(try await run(["-sS"]) == .refused)
        #expect(try paper.said == "long page")
        #expect(try paper.remarked.split(separator: "\n").count == 2)
    }

    @Test func `a silent download shows no bar, and a name comes from the URL`() async throws {
        #expect(try await run(["-so", "DIR/out", "-C-"]) == .success)
        #expect(try paper.remarked.isEmpty)
        #expect(try folder.contents("out") == "body")
        for (url, file) in [("a.test/b/c%20d?e#f", "c%20d"), ("a.test/ü", "ü")] {
            guard case .get(_, let options) = try Command(arguments: ["-O", url]) else { return }
            #expect(options.file == file)
        }
    }

    @Test func `a link is followed, a pipe is written to, and a dash is standard output`() async throws {
        try folder.write("old", as: "target")
        #expect(symlink("target", folder.path + "/link") == 0 && mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(try await run(["-so", "DIR/link"]) == .success)
        #expect(try folder.contents("target") == "body")
        let reader = open(folder.path + "/pipe", O_RDWR | O_CLOEXEC)
        defer { close(reader) }
        #expect(try await run(["-so", "DIR/pipe"]) == .success)
        var bytes = [UInt8](repeating: 0, count: 10)
        #expect(read(reader, &bytes, bytes.count) == 4 && bytes.starts(with: "body".utf8))
        #expect(try await run(["-o", "-"]) == .success)
        #expect(try paper.said == "body")
        #expect(try await run(["-so", "DIR/pipe", "-C-"]) == .usage)
    }

    @Test func `only -m limits the whole`() throws {
        func total(_ arguments: String...) throws -> [Duration?] {
            guard case .get(let url, let options) = try Command(arguments: ["a.test"] + arguments) else { return [] }
            let session = try Get(url: url, options: options, output: paper.output).configuration().timeouts.total
            guard case .value(let own) = try options.request.options.timeouts.total else { return [session] }
            return [session, own]
        }
        #expect(try total() == [nil] && total("-m", "700") == [nil, .seconds(700)])
    }

    @Test func `-v shows heads, times and nothing secret on standard error`() async throws {
        #expect(try await run(["-v", "--bearer", "hunter2"]) == .success)
        let remarks = try paper.remarked
        #expect(remarks.contains(" > GET /a HTTP/1.1\n") && remarks.contains(" < HTTP/1.1 200 OK\n"), "\(remarks)")
        #expect(remarks.contains("200 OK, 4 B\n") && !remarks.contains("hunter2"), "\(remarks)")
        #expect(try paper.said == "body")
    }

    @Test(arguments: ["127.0.0.1", "[127.0.0.1]"]) func `a host is at the address that is given`(
        address: String
    ) async throws {
        let url = "http://a.test:\(server.port)/x"
        let arguments = [
            url, "--resolve", "A.test:\(server.port):\(address)", "--connect-timeout", "5", "--noproxy", "*",
        ]
        #expect(await DunlinCommand.run(try Command(arguments: arguments), paper.output) == .success)
        #expect(server.requests.last?.fields["host"] == "a.test:\(server.port)")
        #expect(try paper.said == "body")
    }

    @Test func `the connection is made as the options say`() throws {
        let words = ["a.test", "--connect-timeout=2", "--unix-socket", "/s", "--resolve", "[::1]:80:[::2]"]
        guard case .get(_, let options) = try Command(arguments: words) else { return }
        var configuration = HTTPSession.Configuration()
        options.route.apply(to: &configuration)
        #expect(configuration.timeouts.connect == .seconds(2) && configuration.timeouts.tls == .seconds(2))
        #expect(configuration.socketPath == "/s")
        #expect(configuration.hostOverrides["[::1]:80"] == .v6(0, 2, port: 0))
    }
}
