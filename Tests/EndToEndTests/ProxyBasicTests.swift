import Dunlin
import DunlinTesting
import FoundationEssentials
import Synchronization
import Testing

/// A name of this machine is another machine's to a proxy, and what goes there is in clear text.
@Suite(.timeLimit(.minutes(10))) struct `Basic over http through a proxy` {
    private static let own = HTTPSession.Options(credentials: .basic(user: "ada", password: "pw"))

    /// A server that lets `ada` in.
    private static func with(
        _ scheme: String = "http", _ configure: (inout HTTPSession.Configuration) -> Void,
        _ play: (ProxyStage) async throws -> Void
    ) async throws {
        try await ProxyStage.with(scheme, configure: configure) { (scene: ProxyStage) async throws in
            scene.server.respond { request in
                request.fields["authorization"] == "Basic YWRhOnB3"
                    ? .response(body: "in") : .response(401, fields: ["WWW-Authenticate": "Basic realm=b"])
            }
            try await play(scene)
        }
    }

    private static func authorized(_ scene: ProxyStage) -> [Bool] {
        scene.server.requests.map { $0.fields.contains("authorization") }
    }

    @Test(arguments: ["http", "socks5", "socks5h"])
    func `a password for this machine counts as clear text if a proxy carries it`(scheme: String) async throws {
        let warnings = Mutex(0)
        try await Self.with(scheme) {
            $0.credentials = .password(user: "ada", password: "pw")
            $0.securityWarningHandler = { _ in warnings.withLock { $0 += 1 } }
        } _: { (scene: ProxyStage) async throws in
            let error = try await scene.failure()
            #expect(error.code == .clearTextRefused && error.response?.status == 401)
            #expect(Self.authorized(scene) == [false])
            #expect(try await scene.get(Self.own).value == "in")
            try await scene.stage.eventually("it is warned of") { warnings.withLock { $0 } == 1 }
            // Names that are resolved here must be known here.
            let hosts = scheme == "socks5" ? ["localhost"] : ["localhost", "a.localhost"]
            for host in hosts {
                let error = try await NetworkError.thrown {
                    _ = try await scene.session.get(
                        url: "http://ada:pw@\(host):\(scene.server.port)/x", as: .string)
                }
                #expect(error.code == .clearTextRefused)
            }
            #expect(Self.authorized(scene) == [false, true] + hosts.map { _ in false })
        }
    }

    @Test func `a password for this machine does not count as clear text if the proxy is not used`() async throws {
        for isException in [false, true] {
            try await Self.with {
                $0.proxy = isException ? .url("http://proxy.test:1", except: "127.0.0.0/8") : .none
                $0.basicInClearText = .refused
                $0.credentials = .password(user: "ada", password: "pw")
            } _: { (scene: ProxyStage) async throws in
                #expect(try await scene.get().value == "in")
                #expect(try await scene.get(Self.own).value == "in")
            }
        }
    }

    /// Whoever chooses may choose another way each time; none goes through the proxy that was judged to go straight.
    @Test(arguments: ["pd", "dp", "ddp", "dddp", "pddp"])
    func `whether a password goes in clear text is judged by the way that it takes`(ways: String) async throws {
        let count = Mutex(0)
        let url = Mutex("")
        try await Self.with {
            $0.credentials = .password(user: "ada", password: "pw")
            $0.proxy = .by { _ in
                let turn = count.withLock { count in
                    defer { count += 1 }
                    return count
                }
                return Array(ways)[turn % ways.count] == "p" ? .url(url.withLock(\.self)) : .none
            }
        } _: { (scene: ProxyStage) async throws in
            url.withLock { $0 = scene.proxy.url() }
            for _ in 0..<8 {
                do { _ = try await scene.get() } catch let error as NetworkError where error.code == .clearTextRefused {
                }
            }
            #expect(!scene.proxy.visits.contains { $0.said.contains("Authorization") })
            #expect(ways == "dp" || Self.authorized(scene).contains(true))
        }
    }

    @Test func `the session's Basic is refused when it is made, with a proxy on its way`() throws {
        var configuration = HTTPSession.Configuration(baseURL: "http://localhost:1")
        configuration.credentials = .basic(user: "ada", password: "pw")
        (configuration.basicInClearText, configuration.proxy) = (.refused, .none)
        _ = try HTTPSession(configuration)
        configuration.proxy = .url("http://proxy.test:1")
        #expect(throws: NetworkError.self) { try HTTPSession(configuration) }
    }

    /// The session's own was judged by its base URL, and other paths may go another way.
    @Test func `a password that is sent unasked is judged by the way of each exchange`() async throws {
        let url = Mutex("")
        try await Self.with {
            ($0.credentials, $0.basicInClearText) = (.basic(user: "ada", password: "pw"), .refused)
            $0.proxy = .by { $0.path.hasPrefix("/ext") ? .url(url.withLock(\.self)) : .none }
        } _: { (scene: ProxyStage) async throws in
            url.withLock { $0 = scene.proxy.url() }
            #expect(try await scene.session.get("x", as: .string).value == "in")
            let error = try await NetworkError.thrown { _ = try await scene.session.get("ext/x", as: .string) }
            #expect(error.code == .clearTextRefused && scene.proxy.visits.isEmpty)
            // A redirect takes the way of where it leads to.
            scene.server.enqueue(.response(302, fields: ["Location": "/ext/y"]))
            let redirected = try await NetworkError.thrown { _ = try await scene.session.get("x", as: .string) }
            #expect(redirected.code == .clearTextRefused && scene.proxy.visits.isEmpty)
        }
    }

    @Test func `the way of each exchange is warned of where a proxy takes a password, and no other`() async throws {
        let url = Mutex("")
        let warnings = Mutex<[HTTPSession.SecurityWarning.Kind]>([])
        try await Self.with {
            $0.credentials = .basic(user: "ada", password: "pw")
            $0.securityWarningHandler = { warning in warnings.withLock { $0.append(warning.kind) } }
            $0.proxy = .by { $0.path.hasPrefix("/ext") ? .url(url.withLock(\.self)) : .none }
        } _: { (scene: ProxyStage) async throws in
            url.withLock { $0 = scene.proxy.url() }
            #expect(try await scene.session.get("x", as: .string).value == "in")
            #expect(warnings.withLock(\.self).isEmpty && scene.proxy.visits.isEmpty)
            // A redirect takes the way of where it leads to.
            scene.server.enqueue(.response(302, fields: ["Location": "/ext/y"]))
            #expect(try await scene.session.get("x", as: .string).value == "in")
            #expect(warnings.withLock(\.self) == [.passwordInClearText] && scene.proxy.visits.count == 1)
        }
    }

    @Test func `a proxy of one request takes neither the session's Basic nor what got in before`() async throws {
        try await Self.with {
            ($0.proxy, $0.basicInClearText) = (.none, .refused)
            $0.credentials = .basic(user: "ada", password: "pw")
        } _: { (scene: ProxyStage) async throws in
            #expect(try await scene.get().value == "in")
            let error = try await scene.failure(.init(proxy: .url(scene.proxy.url())))
            #expect(error.code == .clearTextRefused && scene.proxy.visits.isEmpty)
        }
        try await Self.with {
            ($0.proxy, $0.basicInClearText) = (.none, .refused)
            $0.credentials = .password(user: "ada", password: "pw")
        } _: { (scene: ProxyStage) async throws in
            #expect(try await scene.get().value == "in")
            #expect(try await scene.get().value == "in")
            let error = try await scene.failure(.init(proxy: .url(scene.proxy.url())))
            #expect(error.code == .clearTextRefused)
            #expect(Self.authorized(scene) == [false, true, true, false])
        }
    }
}
