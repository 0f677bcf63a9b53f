import Dunlin
import DunlinTesting
import Synchronization

/// Two origins, and a proxy that goes away as a whole now and then: for a moment there is none, and then another.
final class FaultyProxy: Sendable {
    static let (user, password) = ("ada", "geheim")

    private let current: Mutex<LoopbackProxy>
    private let plain: LoopbackServer
    private let secure: LoopbackServer

    init(_ masks: Masks) throws {
        current = Mutex(try Self.proxy())
        var configuration = LoopbackServer.Configuration()
        configuration.recordsRequests = false
        plain = try LoopbackServer(configuration: configuration)
        secure = try LoopbackServer(tls: masks.tls, configuration: configuration)
        for server in [plain, secure] { server.respond { ProxyCall.reply(to: $0) } }
    }

    private static func proxy() throws -> LoopbackProxy { try LoopbackProxy(user: user, password: password) }

    func target(of call: ProxyCall) -> HTTP.Target {
        let (scheme, port) = call.isSecure ? ("https", secure.port) : ("http", plain.port)
        let origin = "\(scheme)://\(Masks.Name.good.rawValue):\(port)"
        return HTTP.Target(origin + call.target)
    }

    /// The proxy as it is now, which may be gone when it is asked.
    func proxy(for call: ProxyCall) -> String {
        let proxy = current.withLock { $0 }
        if call.fault != .none { proxy.enqueue(call.fault) }
        let user = call.login == .none ? nil : Self.user
        return proxy.url(
            call.scheme.rawValue, user: user, password: call.login == .wrong ? "falsch" : Self.password)
    }

    /// Blocks until every thread of the old proxy has gone.
    func replaceProxy() async throws {
        current.withLock { $0 }.stop()
        try await Task.sleep(for: .milliseconds(5))
        let next = try Self.proxy()
        current.withLock { $0 = next }
    }

    func stop() {
        current.withLock { $0 }.stop()
        plain.stop()
        secure.stop()
    }
}
