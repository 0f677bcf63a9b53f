import Dunlin
import DunlinCommandLine
import Folders
import Foundation
import Testing

@testable import DunlinCLI

@Suite(.timeLimit(.minutes(10))) struct SessionFileTests {
    private let folder: Folder
    private let sessions: SessionFolder
    private let name: SessionName
    private let paper: Paper

    init() throws {
        (folder, name, paper) = (try Folder(), try SessionName("a b"), try Paper())
        sessions = SessionFolder(path: folder.path + "/s")
    }

    private static let origin = HTTP.Origin(scheme: .https, host: "a.test")

    private static func cookie(_ name: String, _ value: String = "hunter2") -> HTTP.Cookie {
        HTTP.Cookie(name: name, value: value, domain: "a.test", isHTTPOnly: true, sameSite: .lax)
    }

    @Test(arguments: [
        "a", "a b", "é", "a.b", "-a", "..".replacing("..", with: "a.."), String(repeating: "x", count: 64),
    ])
    func `a name is one segment of a path`(text: String) throws {
        #expect(try SessionName(text).description == text)
    }

    @Test(arguments: [
        ("", "is at least one character; the one given is empty"),
        ("a/b", "is one word, which has no slash: it names no path, as \"a/b\" does"),
        ("/", "is one word, which has no slash: it names no path, as \"/\" does"),
        (".", "begins with no dot, as \".\" does"), ("..", "begins with no dot, as \"..\" does"),
        (".a", "begins with no dot, as \".a\" does"), ("a\n", "has no control characters, and is UTF-8"),
        ("a\u{1B}[2J", "has no control characters, and is UTF-8"),
        ("\u{9B}", "has no control characters, and is UTF-8"),
        (String(repeating: "x", count: 65), "has at most 64 characters; the one given has 65"),
        (String(repeating: "😀", count: 64), "has at most 200 bytes; the one given has 256"),
    ])
    func `a name that is none is refused with the reason`(text: String, expected: String) {
        #expect(throws: UsageError(description: "a session's name \(expected)")) { try SessionName(text) }
    }

    @Test(
        arguments: [
            nil, .password(user: "ada", password: "hunter2"), .digest(user: "é\"", password: ""), .bearer("hunter2"),
            .field("Key hunter2"),
        ] as [SessionCredentials?])
    func `a session is read as it was written`(credentials: SessionCredentials?) throws {
        let cookies = [Self.cookie("a"), Self.cookie("b")]
        try sessions.update(name) { _ in
            StoredSession(origin: Self.origin, credentials: credentials, cookies: cookies)
        }
        let session = try #require(try sessions.session(name))
        #expect(session.origin == Self.origin && session.credentials == credentials && session.cookies == cookies)
        #expect(sessions.names() == [name])
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!"\(String(describing: credentials)) \(dumped)".contains("hunter2"))
    }

    @Test(arguments: [
        ("", "is damaged: it is not what dunlin wrote"), ("{\"version\":1", "is damaged: it is not what dunlin wrote"),
        ("{\"version\":1,\"secret\":\"hunter2\"}", "is damaged: it is not what dunlin wrote"),
        ("{\"version\":2}", "has the format 2, and this version of dunlin reads 1"),
        (
            "{\"version\":1,\"origin\":\"ftp://a\",\"cookies\":{\"version\":1,\"cookies\":[]}}",
            "is damaged: its origin is none"
        ),
        (
            "{\"version\":1,\"origin\":\"https://a.test/x\",\"cookies\":{\"version\":1,\"cookies\":[]}}",
            "is damaged: its origin is none"
        ),
    ])
    func `a damaged file is refused and never overwritten`(text: String, problem: String) throws {
        try folder.write(text, as: "s/a b.json")
        #expect(chmod(folder.path + "/s", 0o700) == 0 && chmod(folder.path + "/s/a b.json", 0o600) == 0)
        let expected = UsageError(description: "the session file \(folder.path)/s/a b.json \(problem)")
        #expect(throws: expected) { try sessions.session(name) }
        #expect(throws: expected) { try sessions.update(name) { _ in StoredSession(origin: Self.origin) } }
        #expect(folder.text(of: "s/a b.json") == text)
    }

    @Test func `a link, and what is no file, is refused with the line that mends it`() throws {
        try sessions.update(name) { _ in StoredSession(origin: Self.origin) }
        let path = folder.path + "/s/a b.json"
        try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/real")
        #expect(symlink("../real", path) == 0)
        #expect(
            throws: UsageError(
                description: "the session file \(path) is a link to another file; mend it by: rm '\(path)'")
        ) { try sessions.session(name) }
        #expect(unlink(path) == 0 && mkfifo(path, 0o600) == 0)
        #expect(throws: UsageError(description: "the session file \(path) is not a regular file")) {
            try sessions.session(name)
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `a file of another user is refused`() throws {
        try sessions.update(name) { _ in StoredSession(origin: Self.origin) }
        let path = folder.path + "/s/a b.json"
        #expect(chown(path, 1, 1) == 0)
        #expect(
            throws: UsageError(
                description: "the session file \(path) belongs to another user; mend it by: sudo chown 0 '\(path)'")
        ) { try sessions.session(name) }
    }

    @Test func `a folder that others can change is refused`() throws {
        try sessions.update(name) { _ in StoredSession(origin: Self.origin) }
        #expect(chmod(sessions.path, 0o770) == 0)
        #expect(throws: UsageError.self) { try sessions.session(name) }
        #expect(throws: UsageError.self) { try sessions.remove(name) }
    }

    @Test func `many who change a session at once lose nothing`() async throws {
        let (sessions, name) = (sessions, name)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let changes = SessionChanges(from: [], to: [Self.cookie("n\(number)")])
                    #expect(throws: Never.self) {
                        try sessions.update(name) {
                            changes.applied(to: $0 ?? StoredSession(origin: Self.origin), from: Self.origin)
                        }
                    }
                }
            }
        }
        #expect(try sessions.session(name)?.cookies.count == 40)
        #expect(try FileManager.default.contentsOfDirectory(atPath: sessions.path) == ["a b.json"])
    }

    @Test func `a run changes what it touched and nothing else`() {
        let before = [Self.cookie("kept"), Self.cookie("gone"), Self.cookie("set", "1")]
        let after = [Self.cookie("kept"), Self.cookie("set", "2"), Self.cookie("new")]
        let changes = SessionChanges(from: before, to: after, credentials: .bearer("t"))
        let meanwhile = StoredSession(
            origin: Self.origin, cookies: [Self.cookie("kept", "later"), Self.cookie("gone"), Self.cookie("theirs")])
        let result = changes.applied(to: meanwhile, from: Self.origin)
        #expect(result.cookies.map(\.name) == ["kept", "theirs", "set", "new"])
        #expect(result.cookies.map(\.value) == ["later", "hunter2", "2", "hunter2"])
        #expect(result.credentials == .bearer("t"))
        let stranger = HTTP.Origin(scheme: .http, host: "a.test")
        #expect(changes.applied(to: meanwhile, from: stranger).credentials == nil)
        #expect(SessionChanges(from: before, to: before).isEmpty && !changes.isEmpty)
    }

    @Test func `sessions are listed, shown without secrets, and removed`() throws {
        try sessions.update(name) { _ in
            StoredSession(
                origin: Self.origin, credentials: .password(user: "ada", password: "hunter2"),
                cookies: [Self.cookie("sid")])
        }
        func run(_ words: String...) throws -> ExitCode {
            guard case .session(let operation) = try Command(arguments: ["session"] + words) else { return .usage }
            return try SessionCommand(operation: operation, output: paper.output).run(in: sessions)
        }
        #expect(try run("list") == .success && run("show", "a b") == .success && run("show", "b") == .failure)
        let said = try paper.said
        #expect(said.hasPrefix("a b  https://a.test  1 cookie, the password of ada\n"))
        #expect(
            said.contains("  sid=<redacted>; for a.test; Path=/; HttpOnly; SameSite=lax\n") && !said.contains("hunter2")
        )
        #expect(try run("remove", "a b") == .success && run("remove", "a b") == .failure && run("list") == .success)
        #expect(sessions.names().isEmpty)
        #expect(throws: UsageError.self) { try run("show", "../x") }
        #expect(throws: UsageError(description: "session show needs a name; see dunlin session list")) {
            try run("show")
        }
        #expect(throws: UsageError.self) { try run("clear") }
    }

    @Test(
        arguments: [
            (["XDG_CONFIG_HOME": "/c", "HOME": "/h"], "/c/dunlin/sessions"),
            (["HOME": "/h"], "/h/.config/dunlin/sessions"),
            (["XDG_CONFIG_HOME": "c", "HOME": "/h"], "/h/.config/dunlin/sessions"), ([:], nil), (["HOME": ""], nil),
        ] as [([String: String], String?)])
    func `sessions are in the user's folder of settings`(variables: [String: String], path: String?) throws {
        guard let path else {
            #expect(throws: UsageError.self) { try SessionFolder.own(variables) }
            return
        }
        #expect(try SessionFolder.own(variables).path == path)
    }

    @Test(arguments: [
        (["--session", "a", "--session-read-only", "b"], "a request has one session; --session-read-only is another"),
        (["-j"], "-j needs -b FILE or --session as well"),
        (["-b", "-", "-b", "-"], "standard input can be read once; -b - reads it, too"),
        (["--digest"], "--digest needs --user NAME:PASSWORD as well"), (["-c", ""], "-c needs a value"),
        (["--netrc-file="], "--netrc-file needs a value"),
        (["-b", "a=\n"], "the field Cookie has a control character in its value"),
    ])
    func `options that do not fit together are refused`(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Command(arguments: ["a.test"] + arguments) }
    }
}
