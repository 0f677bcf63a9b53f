import Dunlin
import DunlinCurl
import DunlinTesting
import Testing

@testable import DunlinSession

/// The text of `curl` commands.
@Suite(.timeLimit(.minutes(10))) struct CurlTextTests {
    @Test(
        arguments: [
            ("", "''"), ("a-b_c./:9", "a-b_c./:9"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("'", #"''\'''"#),
            ("$HOME", "'$HOME'"), ("a=b", "'a=b'"), ("~", "'~'"), ("a\nb", "'a\nb'"), ("*", "'*'"), ("#", "'#'"),
            ("é", "'é'"), ("❤️ \t", "'❤️ \t'"), ("a\u{1B}b", #""$(printf 'a\033b')""#),
            ("\u{202E}", #""$(printf '\342\200\256')""#), ("\u{3164}", #""$(printf '\343\205\244')""#),
        ])
    func `a word is quoted so that a shell takes it as it is`(text: String, quoted: String) {
        #expect(ShellText.quoted(text) == quoted)
    }

    @Test(
        arguments: [
            ([0], #"printf '\000'"#), ([0x25, 0x5C, 0x27], #"printf '%%\\'\'''"#), ([0x2D, 0x6E], #"printf '\055n'"#),
            ([0xFF, 0x31], #"printf '\3771'"#), ([0x0A], #"printf '\012'"#),
        ] as [([UInt8], String)])
    func `bytes are printed by a format of three octal digits each`(bytes: [UInt8], command: String) {
        #expect(ShellText.printing(Bytes(bytes)) == command)
    }

    private static func curl(
        _ change: (inout HTTPSession.Configuration) -> Void = { _ in }, _ method: HTTP.Method = .get,
        _ target: HTTP.Target = "https://api.test/a", _ body: RequestBody = .none,
        _ options: HTTPSession.Options = .init(), showingSecrets: Bool = false
    ) throws -> String {
        var configuration = HTTPSession.Configuration(
            fields: ["User-Agent": "t", "Accept": "*/*"], timeouts: Timeouts(total: nil), transport: MockTransport())
        configuration.redirects = .never
        change(&configuration)
        let session = try HTTPSession(configuration)
        return try session.task(target, method: method, body: body, options: options, as: .bytes)
            .curl(showingSecrets: showingSecrets)
    }

    @Test(
        arguments: [
            (.environment, ""), (.none, " --noproxy '*'"),
            (.url("http://p.test:3128"), " --proxy http://p.test:3128 --noproxy ''"),
            (.url("http://p.test", except: "api.test"), " --noproxy '*'"),
            (
                .url("https://ada:hush@p.test"),
                " --proxy https://p.test:443 --noproxy '' --proxy-anyauth --proxy-user ada"
                    + "\n# curl will ask for the proxy's password."
            ),
            (
                .by { _ in .url("socks5h://ada:hush@p.test") },
                " --proxy socks5h://p.test:1080 --noproxy '' --proxy-user ada"
                    + "\n# curl will ask for the proxy's password."
            ),
            (
                .url("http://a%3Ab:hush@p.test"),
                " --proxy http://p.test:80 --noproxy ''\n# curl's --proxy-user cannot hold a user name with a "
                    + "colon; write it into the proxy's URL, with %3A."
            ),
        ] as [(HTTPSession.Proxy, String)])
    func `the proxy is said, and its password only where secrets are shown`(
        proxy: HTTPSession.Proxy, words: String
    ) throws {
        func command(_ proxy: HTTPSession.Proxy, showingSecrets: Bool = false) throws -> String {
            try Self.curl(
                {
                    $0.transport = nil
                    $0.environment = [:]
                    $0.proxy = proxy
                }, showingSecrets: showingSecrets)
        }
        let plain = try command(.environment)
        #expect(try command(proxy) == plain + words)
        #expect(try !command(proxy).contains("hush"))
        let shown = try command(proxy, showingSecrets: true)
        #expect(shown.contains("ada:hush") == words.contains("ada") && shown.contains("hush") == words.contains("ada"))
    }

    private static func curl(of body: RequestBody) throws -> String {
        try curl({ _ in }, .post, "https://a.test/", body)
    }

    @Test func `settings that decide what happens are options`() throws {
        let plain = "curl https://api.test/a --http1.1 -H 'User-Agent: t' -H 'Accept: */*'"
        #expect(try Self.curl() == plain)
        #expect(
            try Self.curl { $0.redirects = .init(limit: 3) }
                == plain + " --location --max-redirs 3 --proto-redir '=https'")
        #expect(try Self.curl { $0.timeouts.total = .milliseconds(1500) } == plain + " --max-time 1.5")
        #expect(try Self.curl { $0.socketPath = "/run/it's.sock" } == plain + #" --unix-socket '/run/it'\''s.sock'"#)
        #expect(try Self.curl { $0.socketPath = "\0name" } == plain + " --abstract-unix-socket name")
        #expect(
            try Self.curl { $0.hostOverrides = ["api.test": .v6(0, 1, port: 8443)] }
                == plain + " --connect-to 'api.test:443:[::1]:8443'")
        #expect(
            try Self.curl { $0.fields["Accept-Encoding"] = "gzip" }
                == plain + " -H 'Accept-Encoding: gzip' --compressed")
        #expect(
            try Self.curl(
                { $0.fields["Accept-Encoding"] = "gzip" }, .get, "https://api.test/a", .none,
                .init(decodesContent: false)) == plain + " -H 'Accept-Encoding: gzip'")
    }

    @Test(
        arguments: [
            (.get, .none, true), (.head, .none, true), (.post, .string("a"), false), (.post, .none, false),
            (.put, .none, false), (.delete, .none, false), (.get, .string("a"), false),
        ] as [(HTTP.Method, RequestBody, Bool)])
    func `curl follows no redirect with a method or a body that it would send again`(
        method: HTTP.Method, body: RequestBody, follows: Bool
    ) throws {
        let command = try Self.curl({ $0.redirects = .init() }, method, "https://api.test/a", body)
        #expect(command.contains(" --location ") == follows, "\(command)")
        #expect(command.contains("\n# Redirects are followed by the session, and not by this command: ") == !follows)
    }

    @Test(arguments: [("X-Api-Key", false), ("X-Own", false), ("Authorization", true), ("Cookie", true), ("X-A", true)])
    func `curl follows no redirect with a secret that it would give to other origins`(
        name: String, follows: Bool
    ) throws {
        let change: (inout HTTPSession.Configuration) -> Void = {
            $0.redirects = .init(secretFields: ["X-Own"])
            $0.fields[name] = "hunter2"
        }
        #expect(try Self.curl(change, showingSecrets: true).contains(" --location ") == follows)
        #expect(try Self.curl(change).contains(" --location "))
    }

    @Test func `a body of HEAD is left out and said below the command`() throws {
        let command = try Self.curl({ _ in }, .head, "https://api.test/a", .string("a"))
        #expect(command.hasPrefix("curl --head https://api.test/a "), "\(command)")
        #expect(!command.contains("--data") && !command.contains("-X"), "\(command)")
        #expect(command.hasSuffix("\n# The request has a body, which curl does not send with HEAD."), "\(command)")
    }

    /// Fields and credentials of the request, its user info, what the command has, and what it does not have.
    static let users: [(Fields, HTTPSession.PerRequest<HTTP.Credentials>, String, String?, String)] = [
        ([:], .session, "", "--user ada:hunter2", "Authorization"),
        (["Authorization": "Bearer t"], .session, "", "-H 'Authorization: Bearer t'", "--user"),
        (["Authorization": "Basic Ym9iOnA="], .session, "", "-H 'Authorization: Basic Ym9iOnA='", "--user"),
        (["Authorization": "Basic YWRhOmh1bnRlcjI="], .session, "", "--user ada:hunter2", "Authorization"),
        (["Authorization": #"Digest username="ada", nonce=n"#], .session, "", "--user ada:hunter2", "Authorization"),
        (["Authorization": #"Digest username="bob", nonce=n"#], .session, "", "\n# The answer to the", "--user"),
        ([:], .none, "", nil, "--user"),
        ([:], .value(.password(user: "bob", password: "p")), "", "--user bob:p", "ada"),
        ([:], .value(.bearer(token: "t")), "", "-H 'Authorization: Bearer t'", "--user"),
        ([:], .session, "bob:p@", "--user bob:p", "ada"),
        (
            [:], .value(.password(user: "a:b", password: "p")), "",
            "\n# curl's --user cannot hold a user name with a colon; write it into the URL, with %3A.", "--user a"
        ),
    ]

    @Test(arguments: users) func `a command has the password of its own request`(
        fields: Fields, credentials: HTTPSession.PerRequest<HTTP.Credentials>, info: String, there: String?,
        absent: String
    ) throws {
        var options = HTTPSession.Options(fields: fields)
        options.credentials = credentials
        let url = "https://" + info + "api.test/a"
        let change: (inout HTTPSession.Configuration) -> Void = {
            $0.baseURL = "https://api.test"
            $0.credentials = .password(user: "ada", password: "hunter2")
        }
        let command = try Self.curl(
            change, .get, HTTP.Target(url), .none, options, showingSecrets: true)
        if let there { #expect(command.contains(there), "\(command)") }
        #expect(!command.contains(absent), "\(command)")
    }

    @Test func `an interceptor has the command with the session's settings and secret names`() async throws {
        let transport = MockTransport()
        transport.otherwise { _ in .respond(body: "x") }
        let (sender, commands) = (transport, AsyncStream<String>.makeStream())
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: sender)
        configuration.secretFields = ["ticket"]
        configuration.interceptors = [
            .exchange { request, next in
                commands.continuation.yield(next.curl(request))
                commands.continuation.finish()
                return try await next(request)
            }
        ]
        let session = try HTTPSession(configuration)
        _ = try await session.get("/a?ticket=hunter2", as: .bytes)
        let command = try #require(await commands.stream.first { _ in true })
        #expect(command.hasPrefix("curl 'https://api.test/a?ticket=***' --http1.1 "), "\(command)")
        #expect(command.contains(" --location "), "\(command)")
    }

    @Test func `the command trusts whom the session trusts`() throws {
        #expect(try Self.curl { $0.tls.policy = .insecure }.hasSuffix(" --insecure"))
        #expect(try !Self.curl({ $0.tls.policy = .insecure }, .get, "http://api.test/").contains("insecure"))
        #expect(try !Self.curl { $0.tls.policy.validatesDomainName = false }.contains("insecure"))
    }

    @Test func `a password is for curl to answer with, at its own origin alone`() throws {
        let change: (inout HTTPSession.Configuration) -> Void = {
            $0.baseURL = "https://api.test"
            $0.credentials = .password(user: "ada", password: "hunter2")
        }
        let shown = try Self.curl(change)
        #expect(shown.contains(" --anyauth --user ada"), "\(shown)")
        #expect(shown.hasSuffix("\n# curl will ask for the password."), "\(shown)")
        #expect(try Self.curl(change, showingSecrets: true).contains(" --anyauth --user ada:hunter2"))
        #expect(try !Self.curl(change, .get, "https://b.test/").contains("ada"))
        let inClear: (inout HTTPSession.Configuration) -> Void = {
            $0.baseURL = "http://api.test"
            $0.credentials = .password(user: "ada", password: "hunter2")
        }
        #expect(try Self.curl(inClear, .get, "http://api.test/").contains(" --digest --user ada"))
    }

    @Test func `a body that cannot be shown is said below the command`() throws {
        func note(_ body: RequestBody) throws -> Substring? { try Self.curl(of: body).split(separator: "\n").last }
        let long = RequestBody.bytes([UInt8](repeating: 0x61, count: 70_000))
        #expect(try note(long) == "# The body, of length 70000, is not shown: give it on standard input.")
        #expect(try note(.bytes([0, 1])) == "# The body, of length 2, is not shown: give it on standard input.")
        let once = RequestBody.stream(AsyncStream<Bytes> { $0.finish() })
        #expect(try note(once) == "# The body is a stream that can be sent once: give it on standard input.")
    }

    @Test func `no secret is in it unless it is asked for`() throws {
        let target: HTTP.Target = "https://api.test/a?api_key=hunter2&page=2&ticket=hunter2"
        let change: (inout HTTPSession.Configuration) -> Void = {
            $0.secretFields = ["X-Tenant", "ticket"]
            $0.fields["X-Tenant"] = "hunter2"
            $0.fields["Authorization"] = "Bearer hunter2"
            $0.fields["Referer"] = "https://b.test/?token=hunter2"
        }
        let body = RequestBody.string("password=hunter2&ticket=hunter2&a=1")
        let shown = try Self.curl(change, .post, target, body)
        #expect(!shown.contains("hunter2"), "\(shown)")
        #expect(shown.contains("'https://api.test/a?api_key=***&page=2&ticket=***'"), "\(shown)")
        #expect(shown.contains("--data-binary @-") && shown.contains("\n# The body, of length 35,"), "\(shown)")
        let whole = try Self.curl(change, .post, target, body, showingSecrets: true)
        #expect(whole.split(separator: "hunter2").count == 8, "\(whole)")
        #expect(!whole.contains("***"))
    }

    @Test func `nothing that prints a snapshot, an error or a completion shows a secret of the command`() async throws {
        let transport = MockTransport()
        transport.on(.post, "/a").respond(500, body: "no")
        var configuration = HTTPSession.Configuration(baseURL: "https://api.test", transport: transport)
        configuration.secretFields = ["ticket"]
        let session = try HTTPSession(configuration)
        let events = session.events
        let error = try await #require(throws: NetworkError.self) {
            try await session.post("/a?token=hunter2&ticket=hunter2", body: .string("hunter2"), as: .bytes)
        }
        await session.shutdown()
        var values: [Any] = [error]
        for await event in events {
            values.append(event)
            if case .completed(let end) = event {
                #expect(end.url.contains("hunter2"))
                #expect(end.task.curl(showingSecrets: true)?.contains("hunter2") == true)
                values += [end, end.task] as [Any]
            }
        }
        #expect(values.count >= 4)
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("hunter2"), "\(text)")
            }
        }
    }
}
