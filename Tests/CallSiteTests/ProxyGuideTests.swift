import Dunlin
import DunlinTesting
import FoundationEssentials
import Testing

/// The snippets of the guide to proxies, word for word.
@Suite(.timeLimit(.minutes(10))) struct `Guide to proxies` {
    @Test func `the examples about settings of proxies run as written`() throws {
        var configuration = HTTPSession.Configuration()
        configuration.proxy = .none

        _ = try HTTPSession(configuration)
        configuration.proxy = .url(
            "http://ada:secret@proxy.corp.test:3128",
            except: "localhost,.corp.test")

        _ = try HTTPSession(configuration)
        #expect("\(configuration.proxy)" == "http://proxy.corp.test:3128")
        configuration.proxy = .url("https://proxy.corp.test:3129")
        configuration.proxyTLS.roots = .systemAnd(["corp-ca.pem"])

        // The file is not here.
        #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
        configuration.proxyTLS.roots = .system
        configuration.proxy = .url(
            "http://proxy.corp.test:3128",
            connectFields: ["X-Tenant": "seven"])
        configuration.proxy = .url("socks5h://127.0.0.1:1080")

        _ = try HTTPSession(configuration)
        configuration.proxy = .by { url in
            url.host() == "intranet.test" ? .none : .environment
        }

        _ = try HTTPSession(configuration)
        configuration.guard = .publicInternet
        configuration.guard?.allowedProxyAddresses = ["10.0.0.7"]
        configuration.guard?.trustedProxies = ["http://10.0.0.7:3128"]

        _ = try HTTPSession(configuration)
    }

    @Test func `the examples about the proxy of one request run as written`() async throws {
        let proxy = try LoopbackProxy()
        let server = try LoopbackServer()
        defer {
            proxy.stop()
            server.stop()
        }
        server.respond { _ in .response(fields: ["Content-Type": "application/json"], body: #"{"id":42,"name":"Ada"}"#)
        }
        let client = try HTTPSession(baseURL: server.baseURL) { $0.proxy = .url(proxy.url()) }
        let options = HTTPSession.Options(proxy: .none)
        let user = try await client.get("users/42", options: options, as: User.self)

        #expect(user.id == 42 && proxy.visits.isEmpty)
        _ = try await client.get("users/42", as: User.self)
        #expect(proxy.visits.count == 1)
        await client.shutdown()
    }
}
