import DunlinSemantics
import DunlinTypes
import LedgerRows
import Testing

@Suite struct `Proxy environment` {
    /// Variables, and what http and https go through; nil for none.
    static let variables: [([String: String], http: String?, https: String?)] = [
        ([:], nil, nil), (["PATH": "/bin", "NO_PROXY": "a"], nil, nil),
        (["http_proxy": "http://a:1"], "http://a:1", nil), (["https_proxy": "http://a:1"], nil, "http://a:1"),
        (["HTTP_PROXY": "http://a:1"], "http://a:1", nil), (["HTTPS_PROXY": "http://a:1"], nil, "http://a:1"),
        (["all_proxy": "socks5h://a:1"], "socks5h://a:1", "socks5h://a:1"),
        (["ALL_PROXY": "a:1"], "http://a:1", "http://a:1"),
        (["all_proxy": "a:1", "https_proxy": "b:2"], "http://a:1", "http://b:2"),
        (["ALL_PROXY": "a:1", "http_proxy": "b:2"], "http://b:2", "http://a:1"),
        // In lower case first.
        (["http_proxy": "a:1", "HTTP_PROXY": "b:2"], "http://a:1", nil),
        (["https_proxy": "a:1", "HTTPS_PROXY": "b:2"], nil, "http://a:1"),
        (["all_proxy": "a:1", "ALL_PROXY": "b:2"], "http://a:1", "http://a:1"),
        (["Http_Proxy": "a:1"], nil, nil),
        // Empty is none.
        (["http_proxy": "", "HTTP_PROXY": "b:2"], nil, nil),
        (["http_proxy": "", "all_proxy": "b:2"], nil, "http://b:2"),
        (["https_proxy": " \t", "ALL_PROXY": "b:2"], "http://b:2", nil),
        (["all_proxy": "", "ALL_PROXY": "b:2"], nil, nil), (["http_proxy": "", "https_proxy": ""], nil, nil),
        // CGI: a request's field named Proxy is HTTP_PROXY there.
        (["HTTP_PROXY": "evil:1", "REQUEST_METHOD": "GET"], nil, nil),
        (["HTTP_PROXY": "evil:1", "REQUEST_METHOD": ""], nil, nil),
        (["HTTP_PROXY": "evil\n:1", "REQUEST_METHOD": "GET", "ALL_PROXY": "a:1"], "http://a:1", "http://a:1"),
        (["http_proxy": "a:1", "HTTP_PROXY": "evil:1", "REQUEST_METHOD": "GET"], "http://a:1", nil),
        (["HTTPS_PROXY": "a:1", "REQUEST_METHOD": "GET"], nil, "http://a:1"),
        // Blanks around it, such as the carriage return of a file from elsewhere.
        (["http_proxy": " http://a:1\r\n"], "http://a:1", nil),
        // Nothing depends on these.
        (["http_proxy": "a:1", "https_proxy": "b:2", "all_proxy": "socks://c:3/"], "http://a:1", "http://b:2"),
        (["no_proxy": "a.*"], nil, nil), (["http_proxy": "a:1", "no_proxy": "*"], nil, nil),
        (["http_proxy": "http://u:p@a:1"], "http://a:1", nil),
    ]

    @Test(.rules("9110-7.3.2-1"), arguments: variables)
    func `variables name a proxy for http, for https, or for both`(
        variables: [String: String], http: String?, https: String?
    ) throws {
        let environment = try ProxyEnvironment.of(variables)
        #expect((environment == nil) == (http == nil && https == nil))
        for (scheme, expected) in [(HTTP.Origin.Scheme.http, http), (.https, https)] {
            let choice = environment?.choice(for: scheme, host: "o.test", port: scheme.defaultPort) ?? .direct
            #expect(choice.description == expected ?? "direct")
        }
    }

    @Test(arguments: [
        "localhost", "LOCALHOST", "localhost.", "a.localhost", "127.0.0.1", "127.255.255.254", "::1",
        "::ffff:127.0.0.1",
    ])
    func `this machine is never asked through a proxy`(host: String) throws {
        let environment = try #require(try ProxyEnvironment.of(["all_proxy": "a:1"]))
        #expect(environment.choice(for: .http, host: host, port: 8080) == .direct)
    }

    @Test(arguments: [
        "localhost.test", "xlocalhost", "notlocalhost", "128.0.0.1", "::2", "10.0.0.1", "::127.0.0.1", "host",
    ])
    func `hosts other than this machine are asked through the proxy`(host: String) throws {
        let environment = try #require(try ProxyEnvironment.of(["all_proxy": "a:1"]))
        #expect(environment.choice(for: .http, host: host, port: 8080) != .direct)
    }

    static let exceptions: [([String: String], host: String, port: UInt16, isDirect: Bool)] = [
        (["no_proxy": "b.test"], "a.b.test", 443, true), (["NO_PROXY": "b.test"], "b.test", 443, true),
        (["no_proxy": "c.test", "NO_PROXY": "b.test"], "b.test", 443, false),
        (["no_proxy": "", "NO_PROXY": "b.test"], "b.test", 443, false),
        (["no_proxy": "b.test:80"], "b.test", 443, false), (["no_proxy": "10.0.0.0/8"], "10.1.1.1", 443, true),
        (["NO_PROXY": "b.test", "REQUEST_METHOD": "GET"], "b.test", 443, true),
    ]

    @Test(arguments: exceptions)
    func `hosts that no_proxy takes out are asked directly`(
        variables: [String: String], host: String, port: UInt16, isDirect: Bool
    ) throws {
        let all = variables.merging(["all_proxy": "http://a:1"]) { $1 }
        let choice = try #require(try ProxyEnvironment.of(all)).choice(for: .https, host: host, port: port)
        #expect((choice == .direct) == isDirect)
    }

    static let broken: [([String: String], String)] = [
        (["http_proxy": "http://u:geheim@"], "http_proxy"), (["HTTP_PROXY": "u:geheim@:1"], "HTTP_PROXY"),
        (["HTTPS_PROXY": "socks4://u:geheim@a"], "HTTPS_PROXY"), (["https_proxy": "1.2.3.4:1:u:geheim"], "https_proxy"),
        (["ALL_PROXY": "socks://geheim@a/"], "ALL_PROXY"), (["all_proxy": "http://u:ge/heim@a"], "all_proxy"),
        (["http_proxy": "a", "NO_PROXY": "geheim@a"], "NO_PROXY"),
        (["http_proxy": "a", "no_proxy": "a.*"], "no_proxy"),
        (["http_proxy": "a", "all_proxy": "socks://a"], "all_proxy"),
        (["http_proxy": "a", "https_proxy": "ftp://a", "all_proxy": "b"], "https_proxy"),
    ]

    @Test(arguments: broken)
    func `a value that cannot be used names its variable and shows no secret`(
        variables: [String: String], name: String
    ) {
        do throws(ProxyEnvironmentError) {
            _ = try ProxyEnvironment.of(variables)
            Issue.record("no error")
        } catch {
            #expect(error.variable == name)
            var shown = "\(error)"
            dump(error, to: &shown)
            #expect(shown.contains(name))
            #expect(!shown.contains("geheim") && !shown.contains("heim@"), "\(shown)")
        }
    }

    @Test func `no description of the environment's proxies shows their credentials`() throws {
        let environment = try #require(try ProxyEnvironment.of(["https_proxy": "http://somebody:geheim@a:1"]))
        var shown = "\(environment) \(String(reflecting: environment))"
        dump(environment, to: &shown)
        #expect(!shown.contains("geheim") && !shown.contains("somebody"))
        #expect(environment.description == "http: direct, https: http://a:1")
    }
}
