import Dunlin
import DunlinTesting
import Synchronization

extension Scenario {
    /// A proxy, and what the session knows of it.
    struct Proxy: Sendable {
        var scheme = "http"
        /// Who may use it; nil for everybody.
        var user: String?
        var login = LoopbackProxy.Login.basic
        /// What the session says for a password.
        var password = "pw"
        /// What the session is told of the proxy with this URL.
        var choice: @Sendable (_ url: String) -> HTTPSession.Proxy = { .url($0) }

        func start() throws -> LoopbackProxy { try LoopbackProxy(user: user, password: "pw", login: login) }

        func setting(of proxy: LoopbackProxy) -> HTTPSession.Proxy {
            choice(proxy.url(scheme, user: user, password: password))
        }
    }

    /// Requests that somebody passes on.
    static let proxies: [Scenario] = [
        Scenario("proxy-forwards", chancy: [.receive], proxy: Proxy()) { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.noteGet("get", "a?q=1")
            await scene.note("post") { try await scene.session.post("b", body: .string("x"), as: .string) }
        },
        Scenario("proxy-tunnel", isSecure: true, proxy: Proxy()) { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.noteGet("first")
            await scene.noteGet("second", "b")
        },
        Scenario("proxy-basic", chancy: [.receive], proxy: Proxy(user: "ada")) { scene in
            scene.server.enqueue(.response(body: "one"))
            await scene.noteGet("get", "a", .init(fields: ["Authorization": "Bearer x"]))
        },
        Scenario("proxy-basic-refused", proxy: Proxy(user: "ada", password: "wrong")) { scene in
            await scene.noteGet("get")
        },
        Scenario("proxy-basic-refused-for-a-tunnel", isSecure: true, proxy: Proxy(user: "ada", password: "wrong")) {
            scene in
            await scene.noteGet("get")
        },
        Scenario("proxy-digest", chancy: [.receive], proxy: Proxy(user: "ada", login: .digest(nonceUses: 2))) { scene in
            scene.server.respond { .response(body: "after \($0.bodyCount)") }
            await scene.noteGet("asked")
            await scene.note("known") { try await scene.session.post("b", body: .string("x"), as: .string) }
            await scene.noteGet("stale", "c")
        },
        Scenario("proxy-digest-for-a-tunnel", isSecure: true, proxy: Proxy(user: "ada", login: .digest())) { scene in
            scene.server.respond { _ in .response(body: "here") }
            await scene.noteGet("asked")
            await scene.noteGet("through the same", "b")
        },
        Scenario("proxy-refuses-a-tunnel", isSecure: true, proxy: Proxy()) { scene in
            scene.proxy?.enqueue(.sayAndClose("HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\nyou shall"))
            scene.server.enqueue(.response(body: "here"))
            await scene.noteGet("refused")
            await scene.noteGet("next")
        },
        Scenario("proxy-socks", proxy: Proxy(scheme: "socks5h", user: "ada")) { scene in
            scene.server.enqueue(.response(body: "one"), .response(body: "two"))
            await scene.noteGet("first")
            await scene.noteGet("second", "b")
        },
        Scenario("proxy-socks-refused", proxy: Proxy(scheme: "socks5", user: "ada", password: "wrong")) { scene in
            await scene.noteGet("get")
        },
        Scenario("proxy-down", proxy: Proxy(choice: { _ in .url("http://127.0.0.1:1") })) { scene in
            await scene.noteGet("get")
        },
        // Whoever chooses has the next of a list for the next attempt.
        Scenario(
            "proxy-down-then-the-next", hasManualClock: true, chancy: Set(HTTP.Phase.allCases),
            proxy: Proxy(choice: { url in
                let asked = Asked()
                return .by { _ in asked.next() == 1 ? .url("http://127.0.0.1:1") : .url(url) }
            })
        ) {
            $0.retry = .constant(attempts: 3, every: .seconds(1))
        } _: { scene in
            scene.server.enqueue(.response(body: "here"))
            await scene.note("post") {
                try await scene.skippingWaits {
                    try await scene.session.post("a", body: .string("x"), as: .string)
                }
            }
        },
        Scenario(
            "proxy-breaks-then-retried", isSecure: true, hasManualClock: true, chancy: Set(HTTP.Phase.allCases),
            proxy: Proxy()
        ) {
            $0.retry = .constant(attempts: 3, every: .seconds(1))
        } _: { scene in
            scene.proxy?.enqueue(.close(after: 10))
            scene.server.enqueue(.response(body: "here"))
            await scene.note("get") {
                try await scene.skippingWaits { try await scene.session.get("a", as: .string) }
            }
        },
        Scenario("proxy-redirect", chancy: [.receive], proxy: Proxy(user: "ada")) { scene in
            let elsewhere = "http://localhost:\(scene.server.port)/b"
            scene.server.enqueue(.response(302, fields: ["Location": elsewhere]), .response(body: "here"))
            await scene.noteGet("get", "a", .init(fields: ["Authorization": "Bearer x"]))
        },
        Scenario(
            "proxy-redirect-past-it", chancy: [.receive], proxy: Proxy(choice: { .url($0, except: "localhost") })
        ) { scene in
            let elsewhere = "http://localhost:\(scene.server.port)/b"
            scene.server.enqueue(.response(307, fields: ["Location": elsewhere]), .response(body: "here"))
            await scene.note("put") { try await scene.session.put("a", body: .string("x"), as: .string) }
        },
        Scenario(
            "proxy-and-a-login", chancy: [.receive], proxy: Proxy(user: "ada", login: .digest()),
            configure: withPassword
        ) { scene in
            scene.server.enqueue(.asking(digest("one")), .response(body: "in"))
            await scene.noteGet("get")
        },
        Scenario("proxy-stream-cancelled", proxy: Proxy()) { scene in
            let running = try await scene.reading()
            running.cancel()
            await running.value
        },
    ]

    /// Counts.
    private final class Asked: Sendable {
        private let count = Atomic(0)

        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }
}
