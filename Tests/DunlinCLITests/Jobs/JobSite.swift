import Children
import Dunlin
import DunlinTesting
import Folders
import Foundation

/// What the lines of the page meet: the hosts that they name, and the files.
final class JobSite {
    let folder: Folder
    let server: LoopbackServer
    let proxy: LoopbackProxy
    /// The server whose authority nobody knows, and the one of the Unix socket.
    let own, local: LoopbackServer
    private let pin: String
    static let disk = LoopbackServer.Entity(length: 1_000_000, tag: "\"v1\"")
    static let person =
        #"{"id":42,"name":"Ada","bio":"A small wader: it goes far, on little. It breeds in the far north.","#
        + #""tags":["wader",null]}"#
    static let small = LoopbackServer.Entity(length: 5000, tag: "\"v2\"")

    init() throws {
        folder = try Folder(with: "home/.config/httpie")
        let authority = try CertificateAuthority()
        let issued = try authority.issue(.server("127.0.0.1"))
        var tls = LoopbackServer.TLS(issued)
        tls.clientCertificate = .requested
        server = try LoopbackServer()
        own = try LoopbackServer(tls: tls)
        local = try LoopbackServer(.unix(folder.path + "/app.sock"))
        proxy = try LoopbackProxy()
        pin = try issued.pin
        let user = try authority.issue(.client("ada"))
        for (name, text) in [
            ("ca.pem", authority.pem), ("me.pem", user.pem), ("me.key", try user.privateKeyPEM),
            ("token", "hunter2\n"), ("a.jpg", "a picture"),
            ("cookies.txt", "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t7\n"),
            ("home/.netrc", "machine 127.0.0.1 login ada password secret\n"),
            // It would look for a newer version of itself.
            ("home/.config/httpie/config.json", "{\"disable_update_warnings\": true}"),
        ] { try folder.write(text, as: name) }
        chmod(folder.path + "/home/.netrc", 0o600)
        chmod(folder.path + "/cookies.txt", 0o600)
        route()
    }

    private func route() {
        let page = LoopbackServer.Reply.response(fields: ["Content-Type": "text/html"], body: "<p>page</p>")
        for server in [server, own, local] {
            server.route("/") { _, request in
                request.method == .head ? .response(fields: ["Content-Type": "text/html"]) : page
            }
        }
        let person = LoopbackServer.Reply.response(
            fields: ["Content-Type": "application/json"], body: Bytes(Self.person))
        for target in ["/users/42", "/users", "/search", "/albums"] { server.route(target) { _, _ in person } }
        server.route("/old") { _, _ in .response(302, fields: ["Location": "/"]) }
        server.route("/me") { _, request in
            if request.fields["authorization"] != nil { return .response(body: "hello Ada") }
            return .response(401, fields: ["WWW-Authenticate": "Basic realm=\"home\""])
        }
        server.route("/visits") { _, request in
            .response(fields: ["Set-Cookie": "sid=7; Path=/; Max-Age=3600"], body: "welcome")
        }
        server.route("/gone") { _, _ in .response(404, body: "it is not here") }
        server.route("/slow") { _, _ in [.stall] }
        server.route("/busy") { attempt, _ in attempt == 0 ? .response(503) : .response(body: "at last") }
        server.serve(Self.disk, at: "/files/disk.img")
        for name in ["a.img", "b.img"] { server.serve(Self.small, at: "/files/\(name)") }
        server.route("/files/a.jpg") { _, _ in .response(201) }
    }

    deinit {
        for server in [server, own, local] { server.stop() }
        proxy.stop()
    }

    /// The line with the servers' addresses in it.
    private func completed(_ line: String, _ tool: Tool) -> String {
        let host = "127.0.0.1:\(server.port)"
        var line = line
        if tool == .httpie {
            // Whatever it gets without a terminal it would send, but for what a pipe is there for.
            line = line.replacing("https ", with: line.contains(" | ") ? "http " : "http -I ")
                .replacing("--proxy=https:", with: "--proxy=http:")
        }
        return [
            ("https://api.test", "http://\(host)"), ("api.test", host), ("proxy.test:3128", "127.0.0.1:\(proxy.port)"),
            ("https://own.test", own.baseURL), ("own.test", own.baseURL),
            ("new.test:443:192.0.2.7", "new.test:\(server.port):127.0.0.1"),
            ("https://new.test", "http://new.test:\(server.port)"),
            ("sha256//PIN", pin.replacing("sha256/", with: "sha256//")), ("sha256/PIN", pin),
        ].reduce(line) { $0.replacing($1.0, with: $1.1) }
    }

    var environment: [String] {
        let own = ProcessInfo.processInfo.environment
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
        return ["LD_LIBRARY_PATH", "TMPDIR"].compactMap { name in own[name].map { "\(name)=\($0)" } }
            + ["HOME=\(folder.path)/home", "LANG=C.UTF-8", "PATH=\(tests):\(own["PATH"] ?? "/usr/bin:/bin")"]
    }

    /// Runs the line in the folder, by a shell. HTTPie downloads to a file on a terminal only.
    func run(_ line: String, of tool: Tool, isKilled: Bool = false) async throws -> JobRun {
        if isKilled { server.serve(Self.disk, at: "/files/disk.img", faults: .stall(after: 400_000)) }
        let names = ["printed", "remarked"]
        let files = try names.map { try FileHandle(forWritingTo: URL(filePath: folder.write("", as: $0))) }
        let terminal = tool == .httpie && line.contains("-d ") ? try PseudoTerminal(columns: 80) : nil
        let start = ContinuousClock.now
        let child = try Child(
            "/bin/sh", ["-c", (isKilled ? "exec " : "") + completed(line, tool)], in: folder.path,
            environment: environment,
            descriptors: [1: terminal?.device ?? files[0].fileDescriptor, 2: files[1].fileDescriptor])
        if isKilled {
            try await eventually("most of what the server sends is written") { try self.largest > 60_000 }
            child.signal(SIGKILL)
        }
        let end = await child.ended()
        withExtendedLifetime(files) {}
        _ = terminal?.finish()
        return JobRun(
            tool: tool, status: end.status, duration: .now - start, printed: folder.text(of: "printed"),
            remarked: folder.text(of: "remarked"), requests: server.requests + own.requests + local.requests,
            site: self)
    }

    /// How many bytes the largest file of the folder has.
    private var largest: Int {
        get throws {
            try folder.names().map { name in
                let values = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(name)")
                return values[.size] as? Int ?? 0
            }.max() ?? 0
        }
    }

    /// Whether a program is there to be run.
    static func has(_ program: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            access("\($0)/\(program)", X_OK) == 0
        }
    }
}

/// How a line went: what it printed, and what the servers have seen of it.
struct JobRun {
    let tool: Tool
    let status: Int32
    let duration: Duration
    let printed, remarked: String
    let requests: [LoopbackServer.RecordedRequest]
    let site: JobSite

    var request: LoopbackServer.RecordedRequest? { requests.last }
    var body: String { request.map { String($0.body) } ?? "" }

    /// What a test says when it fails.
    var story: String {
        let heads = requests.map { String($0.head) + String($0.body.prefix(200)) }
        return "exit \(status)\n\(printed)\n\(remarked)\n\(heads.joined(separator: "\n"))"
    }
}
