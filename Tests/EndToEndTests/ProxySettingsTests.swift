import Dunlin
import DunlinSession
import DunlinTesting
import DunlinTypes
import Glibc
import LedgerRows
import Testing

@Suite(.timeLimit(.minutes(10)))
struct `Proxies of the environment and of guards` {
    /// A server, a proxy, and a session whose variables are these; PORT stands for the proxy's.
    private static func with(
        _ variables: [String: String], configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (Stage, LoopbackProxy) async throws -> Void
    ) async throws {
        let proxy = try LoopbackProxy(user: "ada", password: "pw")
        defer { proxy.stop() }
        try await Stage.with(
            tolerating: true,
            configure: {
                $0.environment = variables.mapValues { value in
                    value.split(separator: "PORT", omittingEmptySubsequences: false).joined(separator: "\(proxy.port)")
                }
                let port = $0.baseURL?.split(separator: ":").last?.prefix { $0 != "/" }
                $0.resolver = FixedResolver(addresses: [.v4(0x7F00_0001, port: port.flatMap { UInt16($0) } ?? 0)])
                configure(&$0)
            }
        ) { (stage: Stage) async throws in
            stage.server.respond { _ in .response(body: "x") }
            try await play(stage, proxy)
        }
    }

    @Test(
        .rows("AP-18"),
        arguments: [
            (["http_proxy": "http://ada:pw@127.0.0.1:PORT"], true), (["HTTP_PROXY": "ada:pw@127.0.0.1:PORT"], true),
            (["all_proxy": "socks5h://ada:pw@127.0.0.1:PORT"], true), (["https_proxy": "http://127.0.0.1:PORT"], false),
            (["http_proxy": "http://127.0.0.1:PORT", "no_proxy": "10.*, .test"], false),
            (["http_proxy": "http://127.0.0.1:PORT", "no_proxy": "*"], false), ([:], false),
            (["http_proxy": ""], false),
            (["HTTP_PROXY": "http://127.0.0.1:PORT", "REQUEST_METHOD": "GET"], false),
        ])
    func `the environment's proxy is asked for what the variables say`(
        variables: [String: String], isThrough: Bool
    ) async throws {
        try await Self.with(variables) { (stage: Stage, proxy: LoopbackProxy) async throws in
            let url = HTTP.Target.url("http://api.test:\(stage.server.port)/")
            let response = try await stage.session.get(url, as: .string)
            #expect(response.value == "x" && proxy.visits.isEmpty == !isThrough)
            #expect((response.metrics.hops.last?.proxy != nil) == isThrough)
            // This machine is never asked through it.
            #expect(try await stage.session.get("x", as: .string).metrics.hops.last?.proxy == nil)
        }
    }

    @Test(arguments: [
        (["http_proxy": "http://ada:geheim@"], "http_proxy"), (["HTTPS_PROXY": "ftp://a"], "HTTPS_PROXY"),
        (["http_proxy": "a", "NO_PROXY": "http://b"], "NO_PROXY"),
    ])
    func `a variable that cannot be used is named`(variables: [String: String], name: String) throws {
        var configuration = HTTPSession.Configuration()
        configuration.environment = variables
        let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        #expect(error?.code == .invalidConfiguration && error?.reason.contains(name) == true)
        #expect(error.map { "\($0)".contains("geheim") } == false)
        configuration.proxy = .none
        _ = try HTTPSession(configuration)
    }

    /// In a process of its own: its variables are for all of it.
    @Test func `one request's environment is what the variables say when that is set`() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
                unsetenv(name)
            }
            try await Self.with([:], configure: { $0.proxy = .none }) { (stage: Stage, proxy: LoopbackProxy) in
                let url = HTTP.Target.url("http://api.test:\(stage.server.port)/")
                let before = HTTPSession.Options(proxy: .environment)
                setenv("http_proxy", proxy.url("http", user: "ada", password: "pw"), 1)
                let meanwhile = HTTPSession.Options(proxy: .environment)
                unsetenv("http_proxy")
                for (options, isThrough) in [(before, false), (meanwhile, true), (.init(), false), (meanwhile, true)] {
                    let hop = try await stage.session.get(url, options: options, as: .string).metrics.hops.last
                    #expect((hop?.proxy != nil) == isThrough)
                }
                #expect(proxy.visits.count == 2)
                // What cannot be used is told with the request.
                setenv("http_proxy", "ftp://ada:geheim@a", 1)
                let wrong = HTTPSession.Options(proxy: .environment)
                unsetenv("http_proxy")
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.get(url, options: wrong, as: .string)
                }
                #expect(error.code == .invalidRequest && error.reason.contains("http_proxy"))
                #expect(!"\(error)".contains("geheim"))
            }
        }
    }

    @Test func `a proxy that cannot be used is refused, and its URL is not shown`() async throws {
        for text in ["socks4://u:geheim@a", "http://u:ge/heim@a", "ftp://u:geheim@a"] {
            var configuration = HTTPSession.Configuration()
            configuration.proxy = .url(text)
            let error = #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
            #expect(error?.reason.contains("heim") == false)
            #expect(!"\(configuration.proxy)\(String(reflecting: configuration))".contains("geheim"))
        }
    }

    @Test func `with a guard a proxy resolves no names unless it is trusted, and is judged itself`() async throws {
        try await Self.with(["http_proxy": "http://ada:pw@127.0.0.1:PORT"], configure: { $0.guard = .publicInternet }) {
            (stage: Stage, proxy: LoopbackProxy) async throws in
            let url = HTTP.Target.url("http://api.test:\(stage.server.port)/")
            func refusal(_ rules: HTTPSession.Guard) async throws -> String {
                let error = try await NetworkError.thrown {
                    _ = try await stage.session.get(url, options: .init(guard: .value(rules)), as: .bytes)
                }
                return error.code == .guardRefused ? error.reason : "\(error)"
            }
            var rules = HTTPSession.Guard.publicInternet
            #expect(try await refusal(rules).contains("resolves the name, so its addresses cannot be checked"))
            rules.trustedProxies = [proxy.url()]
            #expect(try await refusal(rules).contains("127.0.0.1 is a loopback address"))
            #expect(proxy.connectionCount == 0)
            rules.allowedProxyAddresses = ["127.0.0.1"]
            let options = HTTPSession.Options(guard: .value(rules))
            #expect(try await stage.session.get(url, options: options, as: .string).value == "x")
            // Through socks5 each address is judged here.
            let socks = HTTPSession.Options(
                proxy: .url(proxy.url("socks5", user: "ada", password: "pw")), guard: .value(rules))
            let error = try await NetworkError.thrown {
                _ = try await stage.session.get(url, options: socks, as: .bytes)
            }
            #expect(error.code == .guardRefused && error.reason.contains("a loopback address"), "\(error)")
            #expect(proxy.visits.count == 1)
        }
    }

    @Test func `a saved configuration keeps a proxy without its user info`() async throws {
        var configuration = HTTPSession.Configuration()
        configuration.proxy = .url("http://ada:geheim@proxy.test:3128", except: ".corp.test")
        let kept = HTTPSession.SavedConfiguration(configuration).configuration
        #expect("\(kept.proxy)" == "http://proxy.test:3128")
        configuration.proxy = .by { _ in .none }
        #expect("\(HTTPSession.SavedConfiguration(configuration).configuration.proxy)" == "the environment's proxy")
    }

    @Test func `an upload goes through a proxy that asks who sends it`() async throws {
        try await Self.with([:]) { (stage: Stage, proxy: LoopbackProxy) async throws in
            let options = HTTPSession.Options(proxy: .url(proxy.url("http", user: "ada", password: "pw")))
            let body = RequestBody.bytes(Bytes([UInt8](repeating: 7, count: 300_000)))
            _ = try await stage.session.post("up", body: body, options: options)
            #expect(stage.server.requests.last?.body.count == 300_000)
        }
    }
}
