import Children
import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Testing

@testable import DunlinCLI

/// `dunlin upload`, and bars of what is sent.
@Suite(.timeLimit(.minutes(5))) struct UploadTests {
    private let server: LoopbackServer
    private let folder: Folder
    private let paper: Paper

    init() throws {
        (server, folder, paper) = (try LoopbackServer(), try Folder(), try Paper())
        server.respond { $0.target == "/in/no" ? .response(403) : .response(201, body: "stored\n") }
        for name in ["a b.txt", "c", "no"] { try folder.write("content", as: name) }
    }

    private func upload(_ arguments: String...) async throws -> ExitCode {
        let arguments = arguments.map { $0.replacing("DIR", with: folder.path).replacing("URL", with: server.baseURL) }
        return await DunlinCommand.run(try Command(arguments: ["upload"] + arguments), paper.output)
    }

    @Test func `a file is the body of a PUT, and the answer is printed`() async throws {
        #expect(try await upload("DIR/c", "URL/x") == .success)
        #expect(try await upload("DIR/a b.txt", "URL/in/", "-XPOST") == .success)
        #expect(server.requests.map { "\($0.method) \($0.target)" } == ["PUT /x", "POST /in/a%20b.txt"])
        #expect(server.requests.allSatisfy { $0.body == "content" })
        #expect(try paper.said == "stored\nstored\n" && paper.remarked.isEmpty)
    }

    @Test func `several files are sent to their names, and one that fails ends no other`() async throws {
        #expect(try await upload("DIR/no", "DIR/a b.txt", "DIR/c", "URL/in/") == .refused)
        #expect(Set(server.requests.map(\.target)) == ["/in/no", "/in/a%20b.txt", "/in/c"])
        let remarks = try paper.remarked
        #expect(remarks.contains("c: done, 7 B") && remarks.contains("total: 3 of 3, 1 failed, "), "\(remarks)")
        #expect(remarks.contains("dunlin: 1 of 3 failed\n  \(folder.path)/no: the server answered 403"), "\(remarks)")
    }

    @Test func `with -F files are parts of one form`() async throws {
        #expect(try await upload("-F", "title=x", "DIR/a b.txt", "DIR/c", "URL/form") == .success)
        let request = try #require(server.requests.last)
        let body = String(decoding: request.body.array, as: UTF8.self)
        #expect(request.method == .post && body.contains("name=\"title\"\r\n\r\nx\r\n"))
        #expect(body.contains("name=\"file\"; filename=\"a b.txt\"") && body.contains("name=\"file\"; filename=\"c\""))
    }

    @Test func `what is sent is held to a rate`() async throws {
        try folder.write(String(repeating: "x", count: 100_000), as: "large")
        let start = ContinuousClock.now
        #expect(try await upload("--limit-rate", "100K", "DIR/large", "URL/x") == .success)
        let time = ContinuousClock.now - start
        #expect(time > .milliseconds(700), "\(time)")
        #expect(server.requests.last?.body.count == 100_000)
    }

    @Test func `the bar of a body is gone when its answer is printed`() async throws {
        try folder.write(String(repeating: "x", count: 300_000), as: "large")
        let arguments = ["-T", folder.path + "/large", "--limit-rate", "200K", server.baseURL + "/x"]
        let (text, end) = try await PseudoTerminal.run(arguments, columns: 80)
        #expect(end.status == 0 && text.contains("large"), "\(text.debugDescription)")
        #expect(text.hasSuffix("\r\u{1B}[1A\u{1B}[Jstored\n"), "\(text.debugDescription)")
    }

    @Test(arguments: [
        ([], "upload needs files and a URL; see dunlin help upload"),
        (["a.test"], "upload needs a file before the URL; - is standard input"),
        (["a", "b", "a.test"], "several files need a URL that ends with a slash, or -F for a form"),
        (["-", "b", "a.test/"], "standard input can be sent alone only; in a form it is -F NAME=<-"),
        (["a/x", "b", "c//x", "a.test/"], "a/x and c//x would both be sent as x; send them one by one"),
        (["a", "-I", "a.test/"], "-I and -G send no body, and upload does"),
    ])
    func `arguments that make no sense are refused`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: ["upload"] + arguments) }
    }
}
