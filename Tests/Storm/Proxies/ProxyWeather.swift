import Dunlin
import DunlinTesting
import Synchronization

/// Two origins, and a proxy that goes away as a whole now and then: for a moment there is none, and then another.
final class ProxyWeather: Sendable {
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
        for server in [plain, secure] { server.respond { ProxyErrand.reply(to: $0) } }
    }

    private static func proxy() throws -> LoopbackProxy { try LoopbackProxy(user: user, password: password) }

    func target(of errand: ProxyErrand) -> HTTP.Target {
        let (scheme, port) = errand.isSecure ? ("https", secure.port) : ("http", plain.port)
        let origin = "\(scheme)://\(Masks.Name.good.rawValue):\(port)"
        return HTTP.Target(origin + errand.target)
    }

    /// The proxy as it is now, which may be gone when it is asked.
    func proxy(for errand: ProxyErrand) -> String {
        let proxy = current.withLock { $0 }
        if errand.fault != .none { proxy.enqueue(errand.fault) }
        let user = errand.login == .none ? nil : Self.user
        return proxy.url(
            errand.scheme.rawValue, user: user, password: errand.login == .wrong ? "falsch" : Self.password)
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
