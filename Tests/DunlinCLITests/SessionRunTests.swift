import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Synchronization
import Testing

@testable import DunlinCLI

/// Runs of the command, one after another, with what they keep in files.
@Suite(.timeLimit(.minutes(5))) struct SessionRunTests {
    private let server: LoopbackServer
    private let other: LoopbackServer
    private let folder: Folder
    private let paper: Paper
    private let sessions: SessionFolder

    init() throws {
        (server, other, folder, paper) = (try LoopbackServer(), try LoopbackServer(), try Folder(), try Paper())
        sessions = SessionFolder(path: folder.path + "/config/dunlin/sessions")
        server.respond { request in
            switch request.target {
            case "/login":
                .response(fields: ["Set-Cookie": "sid=hunter2; Path=/; HttpOnly"], body: "in")
            case "/logout": .response(fields: ["Set-Cookie": "sid=; Max-Age=0; Path=/"], body: "out")
            case "/asks" where request.fields["authorization"] == nil:
                .response(401, fields: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?")
            case "/never": .response(401, fields: ["WWW-Authenticate": "Basic realm=\"x\""], body: "no")
            default: .response(body: "page")
            }
        }
        other.respond { request in
            request.target == "/asks"
                ? .response(401, fields: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?") : .response(body: "b")
        }
    }

    /// Runs the command as a process of its own would. `DIR` is the folder.
    @discardableResult
    private func run(_ arguments: String..., at url: String) async throws -> ExitCode {
        let words = arguments.map { $0.replacing("DIR", with: folder.path) } + ["-s", "--noproxy", "*", url]
        guard case .get(let url, let options) = try Command(arguments: words) else { return .usage }
        return try await Get(url: url, options: options, output: paper.output, sessions: sessions).run()
    }

    private func request(_ server: LoopbackServer) throws -> LoopbackServer.RecordedRequest {
        try #require(server.requests.last)
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    // MARK: - Sessions

    @Test func `a cookie of one run is sent by the next, and by none without the option`() async throws {
        try await run("--session", "s", at: server.baseURL + "/login")
        try await run(at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == nil)
        try await run("--session", "s", at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == "sid=hunter2")
        try await run("--session", "t", at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == nil)
        try await run("--session", "s", at: server.baseURL + "/logout")
        try await run("--session", "s", at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == nil)
    }

    @Test func `a session's file is for its owner alone, and so is its folder`() async throws {
        try await run("--session", "s", at: server.baseURL + "/login")
        #expect(try mode(sessions.path + "/s.json") == 0o600 && mode(sessions.path) == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: sessions.path) == ["s.json"])
    }

    @Test func `nothing is stored without need or wish`() async throws {
        try await run(at: server.baseURL + "/login")
        try await run("--session", "s", at: server.baseURL + "/a")
        try await run("--session-read-only", "s", "-u", "ada:hunter2", at: server.baseURL + "/login")
        try await run("--session", "s", "--curl", "-u", "ada:hunter2", at: server.baseURL + "/login")
        #expect(!FileManager.default.fileExists(atPath: sessions.path + "/s.json"))
        try await run("--session", "s", at: server.baseURL + "/login")
        try await run("--session-read-only", "s", at: server.baseURL + "/logout")
        try await run("--session-read-only", "s", at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == "sid=hunter2")
    }

    @Test(arguments: [
        (["-u", "ada:hunter2"], "Basic YWRhOmh1bnRlcjI="), (["--bearer", "hunter2"], "Bearer hunter2"),
        (["-H", "Authorization: Key hunter2"], "Key hunter2"),
    ])
    func `credentials that were accepted go to their origin by the next run, and to no other`(
        arguments: [String], field: String
    ) async throws {
        let words = arguments + ["-s", "--session", "s", "--noproxy", "*", server.baseURL + "/asks"]
        guard case .get(let url, let options) = try Command(arguments: words) else { return }
        _ = try await Get(url: url, options: options, output: paper.output, sessions: sessions).run()
        #expect(try request(server).fields["authorization"] == field)
        try await run("--session", "s", at: server.baseURL + "/asks")
        #expect(try request(server).fields["authorization"] == field)
        try await run("--session", "s", at: other.baseURL + "/asks")
        #expect(other.requests.allSatisfy { $0.fields["authorization"] == nil } && other.requests.count == 1)
        let target = other.baseURL + "/asks"
        server.respond { _ in .response(302, fields: ["Location": target], body: "") }
        try await run("--session", "s", at: server.baseURL + "/asks")
        #expect(other.requests.allSatisfy { $0.fields["authorization"] == nil } && other.requests.count == 2)
        #expect(try !paper.remarked.contains("hunter2"))
    }

    @Test func `what is given in the arguments wins, and what a server refuses is not kept`() async throws {
        try await run("--session", "s", "--bearer", "first", at: server.baseURL + "/a")
        #expect(try await run("--session", "s", "--bearer", "second", at: server.baseURL + "/never") == .refused)
        #expect(try request(server).fields["authorization"] == "Bearer second")
        try await run("--session", "s", at: server.baseURL + "/a")
        #expect(try request(server).fields["authorization"] == "Bearer first")
    }

    @Test func `runs at once lose none of each other's cookies`() async throws {
        server.respond { request in
            .response(fields: ["Set-Cookie": "\(request.target.dropFirst())=1; Path=/"], body: "")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask { try await run("--session", "s", at: server.baseURL + "/n\(number)") }
            }
            try await group.waitForAll()
        }
        let stored = try #require(try sessions.session(try SessionName("s")))
        #expect(Set(stored.cookies.map(\.name)) == Set((0..<12).map { "n\($0)" }))
    }

    @Test func `a file that cannot be trusted stops the run before anything is sent, and stays as it is`() async throws
    {
        try await run("--session", "s", at: server.baseURL + "/login")
        let (path, count) = (sessions.path + "/s.json", server.requests.count)
        #expect(chmod(path, 0o644) == 0)
        let text = try folder.contents("config/dunlin/sessions/s.json")
        await #expect(
            throws: UsageError(
                description: "the session file \(path) can be read by other users; mend it by: chmod 600 \(path)")
        ) {
            try await run("--session", "s", at: server.baseURL + "/a")
        }
        #expect(try folder.contents("config/dunlin/sessions/s.json") == text && server.requests.count == count)
    }

    // MARK: - Cookie files

    @Test func `cookies come from a file and go to one`() async throws {
        let line = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\nnone\n.test\tTRUE\t/\tFALSE\t0\tx\ty\n"
        try folder.write(line, as: "in")
        try await run("-b", "DIR/in", "-c", "DIR/out", at: server.baseURL + "/login")
        #expect(try request(server).fields["cookie"] == "old=1")
        #expect(try mode(folder.path + "/out") == 0o600)
        let file = CookieFile(try folder.contents("out").array)
        #expect(file.cookies.map(\.name) == ["old", "x", "sid"] && file.cookies.last?.isHTTPOnly == true)
        try await run("-b", "DIR/out", at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == "old=1; sid=hunter2")
        #expect(try folder.contents("out") == Bytes(CookieFile.written(file.cookies).text))
        try await run("-b", "DIR/out", "-j", "-c", "-", at: server.baseURL + "/a")
        #expect(try request(server).fields["cookie"] == nil)
        #expect(try paper.said.contains("page# Netscape HTTP Cookie File\n"))
    }

    @Test func `the first of two runs has no cookie file yet, and a broken run leaves one`() async throws {
        try await run("-b", "DIR/jar", "-c", "DIR/jar", at: server.baseURL + "/login")
        #expect(try CookieFile(folder.contents("jar").array).cookies.map(\.name) == ["sid"])
        server.respond { _ in [.send("HTTP/1.1 200 OK\r\nSet-Cookie: late=1\r\nContent-Length: 9\r\n\r\nx"), .close] }
        await #expect(throws: (any Error).self) {
            try await run("-b", "DIR/jar", "-c", "DIR/jar", at: server.baseURL + "/")
        }
        #expect(try CookieFile(folder.contents("jar").array).cookies.map(\.name) == ["sid", "late"])
        server.respond { _ in .response(body: "") }
        #expect(try await run("-c", "DIR/none/jar", at: server.baseURL + "/login") == .failure)
    }

    @Test func `cookies given by hand go to the first origin only, beside those of files`() async throws {
        let target = other.baseURL.replacing("127.0.0.1", with: "localhost") + "/b"
        server.respond { request in
            request.target == "/a"
                ? .response(302, fields: ["Location": target, "Set-Cookie": "jar=1"], body: "") : .response(body: "")
        }
        try await run("-b", "a=1", "-b", "b=2", "-b", "", at: server.baseURL + "/a")
        #expect(server.requests.last?.fields.values(of: "cookie") == ["a=1; b=2"])
        #expect(try request(other).fields["cookie"] == nil)
        try await run("-b", "a=1", "-b", "", at: server.baseURL + "/b")
        #expect(try request(server).fields["cookie"] == "a=1")
    }

    @Test func `secrets are in no remark and no command for curl`() async throws {
        try await run("--session", "s", "-u", "ada:hunter2", at: server.baseURL + "/login")
        try await run("--session", "s", "-v", at: server.baseURL + "/asks")
        try await run("--session", "s", "--curl", at: server.baseURL + "/asks")
        #expect(try !paper.remarked.contains("hunter2") && !paper.said.contains("hunter2"))
        try await run("--session", "s", "--curl", "--show-secrets", at: server.baseURL + "/asks")
        #expect(try paper.said.contains("sid=hunter2") && paper.said.contains("ada:hunter2"))
    }

    // MARK: - Whose

    /// The session that a run of the command makes.
    private func userID(_ arguments: String...) throws -> String? {
        let words = arguments.map { $0.replacing("DIR", with: folder.path) } + [server.baseURL + "/a"]
        guard case .get(let url, let options) = try Command(arguments: words) else { return nil }
        return try Get(url: url, options: options, output: paper.output, sessions: sessions).configuration().userID
    }

    @Test func `each session and each cookie file is a user of its own to the cache`() async throws {
        try folder.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tada\n", as: "ada")
        try folder.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tbob\n", as: "bob")
        for name in ["ada", "bob"] { try await run("--session", name, at: server.baseURL + "/login") }
        let users = try [
            userID("--session", "ada"), userID("--session", "bob"), userID("-b", "DIR/ada"), userID("-b", "DIR/bob"),
        ]
        #expect(Set(users).count == 4 && !users.contains(nil))
        #expect(try userID("--session", "ada") == users[0] && userID("-b", "DIR/ada") == users[2])
        #expect(try userID() == nil && userID("-c", "DIR/new") == nil)
        // Another session of that name may be another user's.
        #expect(try sessions.remove(SessionName("ada")))
        try await run("--session", "ada", at: server.baseURL + "/login")
        #expect(try userID("--session", "ada") != users[0])
    }

    @Test(arguments: [("--session", ""), ("-b", "DIR/")], ["ada", "bob"])
    func `a download goes on for its user, and is begun anew for another, whatever the tag says`(
        way: (option: String, folder: String), second: String
    ) async throws {
        let bodies = [
            "sid=ada": LoopbackServer.Entity(length: 1 << 20, offset: 0, tag: #""one""#),
            "sid=bob": LoopbackServer.Entity(length: 1 << 20, offset: 1, tag: #""one""#),
        ]
        let isFirst = Mutex(true)
        server.respond { request in
            if let name = request.target.split(separator: "?").dropFirst().first {
                return .response(fields: ["Set-Cookie": "sid=\(name)"])
            }
            guard let body = bodies[request.fields["cookie"] ?? ""] else { return .response(500) }
            let stalls = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return stalls ? body.reply(to: request, .stall(after: 100_000)) : body.reply(to: request)
        }
        for name in ["ada", "bob"] {
            try folder.write("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t\(name)\n", as: name)
            try await run("--session", name, at: server.baseURL + "/login?\(name)")
        }
        func download(_ name: String, _ limit: String) async throws -> ExitCode {
            try await run(
                way.option, way.folder + name, "-m", limit, "-o", "DIR/file", at: server.baseURL + "/file")
        }
        #expect(try await download("ada", "1") == .failure)
        #expect(try await download(second, "1000") == .success)
        #expect(try folder.contents("file") == bodies["sid=\(second)"]?.bytes)
        let ranges = server.requests.dropFirst(3).map { $0.fields["range"] }
        #expect(ranges == (second == "ada" ? ["bytes=100000-"] : ["bytes=100000-", nil]))
    }

    /// Serves each account's file under one tag, by the cookie, and stops in the first. A query sets the cookie.
    private func serveAccounts() {
        let isFirst = Mutex(true)
        server.respond { request in
            if let account = request.target.split(separator: "?").dropFirst().first {
                return .response(fields: ["Set-Cookie": "sid=\(account); Path=/"])
            }
            let stalls = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            let isBob = request.fields["cookie"] == "sid=bob"
            let file = LoopbackServer.Entity(length: 1 << 20, offset: isBob ? 1 : 0, tag: #""one""#)
            return stalls ? file.reply(to: request, .stall(after: 100_000)) : file.reply(to: request)
        }
    }

    @Test(arguments: [
        (["-d", "name=bob"], "/?bob", true), (["-X", "POST"], "/?bob", true), (["-F", "name=bob"], "/?bob", true),
        (["-u", "bob:hunter2"], "/?bob", true), (["-H", "Authorization: Key bob"], "/?bob", true),
        (["-u", "bob:hunter2"], "/", true), ([], "bob:hunter2@/?bob", true),
        ([], "/?ada2", false), (["-d", "name=ada"], "/?ada", false), (["-d", "name=ada"], "/", false),
    ])
    func `a form or other credentials that change what is kept are a new login, a renewed cookie is none`(
        arguments: [String], place: String, isNew: Bool
    ) async throws {
        serveAccounts()
        try await run("--session", "s", "-u", "ada:hunter2", at: server.baseURL + "/?ada")
        let first = try userID("--session", "s")
        #expect(
            try await run("--session", "s", "-m", "1", "-o", "DIR/file", at: server.baseURL + "/file") == .failure)
        let user = place.prefix { $0 != "/" }
        let url = server.baseURL.replacing("://", with: "://\(user)") + place.dropFirst(user.count)
        let words = arguments + ["-s", "--session", "s", "--noproxy", "*", url]
        guard case .get(let target, let options) = try Command(arguments: words) else { return }
        _ = try await Get(url: target, options: options, output: paper.output, sessions: sessions).run()
        #expect(try (userID("--session", "s") != first) == isNew)
        try await run("--session", "s", "-C", "-", "-o", "DIR/file", at: server.baseURL + "/file")
        let isBob = try request(server).fields["cookie"] == "sid=bob"
        #expect(try folder.contents("file") == LoopbackServer.Entity(length: 1 << 20, offset: isBob ? 1 : 0).bytes)
        #expect(try request(server).fields["range"] == (isNew ? nil : "bytes=100000-"))
    }

    /// What follows the answer to a form in the same run is the new user's.
    @Test func `a run that logs in is given nothing that the former login cached`() async throws {
        serveAccounts()
        try await run("--session", "s", at: server.baseURL + "/?ada")
        let former = try userID("--session", "s")
        #expect(try userID("--session", "s", "-d", "name=bob") != former && userID("--session", "s") == former)
    }

    // MARK: - netrc

    @Test func `a password comes from netrc for its host alone`() async throws {
        let path = try folder.write("machine 127.0.0.1 login ada password hunter2\n", as: "netrc")
        #expect(chmod(path, 0o600) == 0)
        try await run("--netrc-file", "DIR/netrc", at: server.baseURL + "/asks")
        #expect(try request(server).fields["authorization"] == "Basic YWRhOmh1bnRlcjI=")
        try await run("--netrc-file", "DIR/netrc", "-u", "b:c", at: server.baseURL + "/asks")
        #expect(try request(server).fields["authorization"] == "Basic Yjpj")
        let elsewhere = other.baseURL.replacing("127.0.0.1", with: "localhost") + "/asks"
        #expect(try await run("--netrc-file", "DIR/netrc", at: elsewhere) == .refused)
        let target = other.baseURL + "/asks"
        server.respond { _ in .response(302, fields: ["Location": target], body: "") }
        #expect(try await run("--netrc-file", "DIR/netrc", at: server.baseURL + "/asks") == .refused)
        #expect(other.requests.count == 2 && other.requests.allSatisfy { $0.fields["authorization"] == nil })
    }

    @Test(
        arguments: [
            ("ada", "ada:hunter2"), ("%61d%61", "ada:hunter2"), ("bob", "bob:b@:"), ("b%40c", "b@c:d"),
            // Nothing there is for these, and the URL is sent as it is.
            ("eve", "eve:"), ("Ada", "Ada:"),
            // The URL wins with a password, and without a name.
            ("ada:own", "ada:own"), ("ada:", "ada:"), (":x", ":x"),
            // That is no user.
            ("", "bob:b@:"),
        ])
    func `a user in the URL gets that user's password from netrc`(user: String, expected: String) async throws {
        let path = try folder.write(
            "machine 127.0.0.1 login bob password b@: machine 127.0.0.1 login ada password hunter2\n"
                + "machine 127.0.0.1 login b@c password d default login eve password e\n", as: "netrc")
        #expect(chmod(path, 0o600) == 0)
        let url = server.baseURL.replacing("://", with: "://\(user)@") + "/asks"
        #expect(try await run("--netrc-file", "DIR/netrc", at: url) == .success)
        let credentials = Data(expected.utf8).base64EncodedString()
        #expect(try request(server).fields["authorization"] == "Basic \(credentials)")
        #expect(try request(server).target == "/asks")
    }

    @Test func `a user in the URL is not the session's, and an entry without a password is an error`() async throws {
        let path = try folder.write(
            "machine 127.0.0.1 login ada password hunter2 machine 127.0.0.1 login bob\n", as: "netrc")
        #expect(chmod(path, 0o600) == 0)
        try await run("--session", "s", "-u", "b:c", at: server.baseURL + "/asks")
        let url = { (user: String) in server.baseURL.replacing("://", with: "://\(user)@") + "/asks" }
        try await run("--session", "s", "--netrc-file", "DIR/netrc", at: url("ada"))
        #expect(try request(server).fields["authorization"] == "Basic YWRhOmh1bnRlcjI=")
        try await run("--session", "s", "--netrc-file", "DIR/netrc", at: server.baseURL + "/asks")
        #expect(try request(server).fields["authorization"] == "Basic Yjpj")
        let problem = "the netrc file \(path) has no login and password for 127.0.0.1"
        await #expect(throws: UsageError(description: problem)) {
            try await run("--netrc-file", "DIR/netrc", at: url("bob"))
        }
        await #expect(throws: UsageError.self) {
            try await run("--netrc-file", "DIR/netrc", "-u", "b:c", at: url("ada"))
        }
    }

    @Test func `a netrc file that others can read is refused, and errors name no word of it`() async throws {
        let path = try folder.write("machine 127.0.0.1 login ada password hunter2 hunter2\n", as: "netrc")
        for mode: mode_t in [0o644, 0o640, 0o604, 0o620] {
            #expect(chmod(path, mode) == 0)
            await #expect(throws: UsageError.self) {
                try await run("--netrc-file", "DIR/netrc", at: server.baseURL + "/asks")
            }
        }
        #expect(chmod(path, 0o600) == 0)
        let problem = "cannot be understood: line 1 has a word that netrc files do not have there"
        await #expect(throws: UsageError(description: "the netrc file \(path) \(problem)")) {
            try await run("--netrc-file", "DIR/netrc", at: server.baseURL + "/asks")
        }
        await #expect(throws: UsageError(description: "the netrc file \(folder.path)/none is not there")) {
            try await run("--netrc-file", "DIR/none", at: server.baseURL + "/asks")
        }
        #expect(server.requests.isEmpty)
    }
}
