import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

@testable import DunlinCLI

/// `dunlin download` against a server.
@Suite(.timeLimit(.minutes(5))) struct DownloadTests {
    private let server: LoopbackServer
    private let folder: Folder
    private let paper: Paper

    init() throws { (server, folder, paper) = (try LoopbackServer(), try Folder(), try Paper()) }

    /// Runs `dunlin download` into the folder. `DIR` and `URL` in an argument are the folder and the server.
    private func download(_ arguments: String...) async throws -> ExitCode {
        let arguments = arguments.map { $0.replacing("DIR", with: folder.path).replacing("URL", with: server.baseURL) }
        let command = try Command(arguments: ["download", "-P", folder.path] + arguments)
        return await DunlinCommand.run(command, paper.output)
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test func `thirty files come four at a time, and those that fail are named at the end`() async throws {
        let gate = LoopbackServer.Gate()
        server.respond { request in
            if request.target == "/7" { return .response(.notFound, body: "no").waiting(for: gate) }
            return .response(body: Bytes("content of \(request.target)")).waiting(for: gate)
        }
        let urls: [String] = (0..<30).map { "\(server.baseURL)/\($0)" }
        let list = urls.joined(separator: "\r\n")
        try folder.write(list, as: "list")
        let arguments = ["download", "-P", folder.path, "-i", folder.path + "/list"]
        let (command, output) = (try Command(arguments: arguments), paper.output)
        async let code = DunlinCommand.run(command, output)
        _ = try await server.waitForRequests(4)
        #expect(server.requests.count == 4)
        gate.open()
        #expect(await code == .refused)
        #expect(try files.count == 30 && !files.contains("7"))
        #expect(folder.text(of: "29") == "content of /29")
        let lines = try Paper.lines(of: paper.remarks)
        #expect(lines.count { $0.contains(": done, ") } == 29)
        #expect(lines.count { $0.hasPrefix("total: 30 of 30, 1 failed, ") } == 1)
        #expect(lines.contains("dunlin: 1 of 30 failed"))
        let reason = "  \(server.baseURL)/7: the server answered 404"
        #expect(lines.last?.hasPrefix(reason) == true)
        #expect(lines.count == 30 + 1 + 2)
    }

    @Test func `names from servers are safe, and two of one name are two files`() async throws {
        server.respond { request in
            let names = [
                "/1": "../../etc/.passwd", "/2": "a\u{1B}[2Jb/same.txt", "/3": "same.txt", "/4": "..", "/5": "",
            ]
            let name = names[String(request.target.prefix(2))].map { "attachment; filename=\"\($0)\"" } ?? ""
            // Written as it is: a library for servers would refuse some of it.
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Disposition: \(name)\r\n\r\n"
            return .raw(Bytes(head + request.target.suffix(1)))
        }
        #expect(try await download("URL/1", "URL/3", "URL/4", "URL/5", "URL/%2e%2e%2fx", "URL/") == .success)
        #expect(try files == ["4", "5", "download", "passwd", "same.txt", "x"])
        #expect(try await download("URL/3?a", "URL/3", "--overwrite") == .success)
        #expect(try files.contains("same-1.txt"))
    }

    @Test func `a file that is there is kept, and is an error if it is another`() async throws {
        server.respond { _ in .response(body: "abc") }
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        try folder.write("abc", as: "x")
        #expect(try await download("URL/x") == .success)
        #expect(try await download("URL/x", "--sha256", digest) == .success)
        try folder.write("xyz", as: "x")
        #expect(try await download("URL/x", "--sha256", "sha256:\(digest)") == .failure)
        try folder.write("longer", as: "x")
        #expect(try await download("URL/x") == .failure)
        #expect(try await download("URL/x", "-oDIR/x") == .failure)
        #expect(folder.text(of: "x") == "longer")
        #expect(try await download("URL/x", "--overwrite", "--sha256", digest) == .success)
        #expect(folder.text(of: "x") == "abc")
        let lines = try Paper.lines(of: paper.remarks)
        #expect(
            lines.prefix(2) == [
                "x: kept: it is there already, and has the right length",
                "x: kept: it is there already, and has the right digest",
            ])
        #expect(lines.contains("x: failed: another file of this name is there; --overwrite replaces it"))
    }

    @Test(arguments: ["Repr-Digest", "Content-Digest"])
    func `a file that is there is no other than the one whose digest the server tells`(name: String) async throws {
        let digest = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
        server.respond { _ in .response(fields: [name: digest], body: "abc") }
        try folder.write("abc", as: "x")
        #expect(try await download("URL/x") == .success)
        try folder.write("xyz", as: "x")
        #expect(try await download("URL/x") == .failure)
        #expect(folder.text(of: "x") == "xyz")
        #expect(
            try Paper.lines(of: paper.remarks).contains(
                "x: failed: a file with another digest is there; --overwrite replaces it"))
    }

    /// The names are numbered in the order of the responses.
    @Test(arguments: ["1", "2"])
    func `a file of another URL by the server's name is not taken for this one's`(parallel: String) async throws {
        let isReady = Mutex(false)
        server.respond { request in
            let fields: Fields = ["Content-Disposition": "attachment; filename=\"tile.bin\""]
            if request.target == "/north", !isReady.withLock(\.self) { return .response(404) }
            return .response(fields: fields, body: request.target == "/north" ? "north" : "south")
        }
        #expect(try await download("URL/north", "URL/south", "--parallel", parallel) != .success)
        #expect(folder.text(of: "tile.bin") == "south")
        isReady.withLock { $0 = true }
        #expect(try await download("URL/north", "URL/south", "--parallel", parallel) == .failure)
        #expect(try paper.remarked.contains("servers gave two files this name"))
        #expect(try await download("URL/north", "URL/south", "--parallel", parallel, "--overwrite") == .success)
        #expect(Set(["tile.bin", "tile-1.bin"].map { folder.text(of: $0) }) == ["north", "south"])
    }

    @Test func `a file with another digest is not left there`() async throws {
        server.respond { _ in .response(body: "abc") }
        let wrong = String(repeating: "0", count: 64)
        try folder.write("\(server.baseURL)/x sha256:\(wrong) film\n\n# end\n\(server.baseURL)/y", as: "list")
        #expect(try await download("-i", "DIR/list") == .failure)
        #expect(try files == ["list", "y"])
        #expect(try paper.remarked.contains("film: failed: the digest of the content is sha-256:ba7816bf"))
    }

    @Test(arguments: ["", "attachment; filename=\"named.bin\""])
    func `a second run continues what the first left, by its validator`(disposition: String) async throws {
        var entity = LoopbackServer.Entity(length: 3_000_000, tag: "\"v1\"")
        if !disposition.isEmpty { entity.fields = ["Content-Disposition": disposition] }
        let (whole, second) = (entity, LoopbackServer.Gate())
        server.respond { request in
            let reply = whole.reply(to: request)
            if second.isOpen { return reply }
            // What is asked for again in the first run is refused, which ends it.
            return request.fields.contains("range") ? .response(403) : reply.truncatedAfter(1_000_000)
        }
        #expect(try await download("URL/film.bin") == .refused)
        #expect(try files.filter { $0.hasSuffix(".dunlin-part") }.count == 1)
        #expect(try paper.remarked.contains("what has come is kept; to continue: "))
        second.open()
        #expect(try await download("URL/film.bin") == .success)
        let name = disposition.isEmpty ? "film.bin" : "named.bin"
        #expect(try files == [name])
        #expect(try folder.contents(name) == entity.bytes)
        #expect(server.requests.last?.fields["range"]?.hasPrefix("bytes=") == true)
        #expect(server.requests.last?.fields["if-range"] == "\"v1\"")
    }

    @Test func `a silent run says only what fails, and only if asked to`() async throws {
        server.respond { $0.target == "/no" ? .response(.notFound) : .response(body: "x") }
        #expect(try await download("-s", "URL/a", "URL/no") == .refused)
        #expect(try paper.remarked.isEmpty)
        #expect(try await download("-sS", "--overwrite", "URL/a", "URL/no") == .refused)
        #expect(try Paper.lines(of: paper.remarks).first == "dunlin: 1 of 2 failed")
    }

    @Test func `what is received is held to a rate`() async throws {
        server.respond { _ in .generated(length: 300_000) }
        let start = ContinuousClock.now
        #expect(try await download("--limit-rate", "200K", "URL/a", "URL/b") == .success)
        let time = ContinuousClock.now - start
        // 600,000 bytes at 204,800 a second.
        #expect(time > .milliseconds(2500), "\(time)")
    }

    @Test(arguments: [
        ([], "download needs a URL, or -i FILE with a list; see dunlin help download"),
        (["a.test", "b.test", "-oc"], "-o names one file, and there may be several"),
        (["a.test", "-o-"], "download writes regular files only; without it -o - is written to"),
        (["a.test", "-I"], "a HEAD request has no body to download"),
        (["a.test", "b.test", "--sha256", sha], "--sha256 is for one file; in a list, sha256:HEX follows the URL"),
        (["a.test", "--sha256", "12"], "\"12\" is not a SHA-256 digest, which has 64 hexadecimal digits"),
        (["a.test", "--parallel", "0"], "--parallel needs a number from 1 to 1000, not \"0\""),
        (
            ["a.test", "b.test", "-u", "me:pw"],
            "--user is for one server, and the URLs name two: https://a.test and https://b.test"
        ),
        (
            ["a.test", "b.test", "-H", "X-Api-Key: k"],
            "-H X-Api-Key is for one server, and the URLs name two: https://a.test and https://b.test"
        ),
        (["a.test", "-d", "x"], "download has no option \"-d\", in \"-d\"; it is one of dunlin URL"),
    ])
    func `options that do not fit together are refused`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected.replacing(", in \"-d\"", with: ""))) {
            try Command(arguments: ["download"] + arguments)
        }
    }

    private static let sha = String(repeating: "0", count: 64)
}
