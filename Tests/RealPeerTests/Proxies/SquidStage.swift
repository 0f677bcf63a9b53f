import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// A session whose requests go to an nginx through a squid.
struct SquidStage {
    /// Which scheme is spoken with squid, and which with the origin.
    struct Way: Sendable, CustomTestStringConvertible {
        let proxy: String
        let origin: String

        static let all = ["http", "https"].flatMap { proxy in
            ["http", "https"].map { Way(proxy: proxy, origin: $0) }
        }
        static let tunnels = all.filter(\.isTunnel)

        /// Whether squid only forwards bytes.
        var isTunnel: Bool { origin == "https" }
        var testDescription: String { "\(origin) through \(proxy)" }
    }

    let way: Way
    let squid: Squid
    let nginx: Nginx
    let session: HTTPSession

    /// Ends the session when the test is over. `password` is what is sent for a login; nil for none.
    static func with(
        _ way: Way, _ login: Squid.Login = .none, sending password: String? = nil,
        configure: (inout HTTPSession.Configuration) -> Void = { _ in }, _ play: (SquidStage) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue(.server("127.0.0.1", Squid.origin, Squid.denied))
        try await Squid.with(login) { squid in
            try await Nginx.with(way.isTunnel ? Nginx.Security(identity) : nil) { nginx in
                var configuration = HTTPSession.Configuration(baseURL: nginx.baseURL)
                configuration.useLoopOfTest()
                // Each is vouched for by another authority, so that a mix-up shows.
                configuration.tls.roots = .only([.bytes(authority.certificate.der)])
                configuration.proxyTLS.roots = .only([.bytes(squid.authority.certificate.der)])
                configuration.proxy = .url(
                    squid.url(way.proxy, user: password.map { _ in Squid.user }, password: password ?? ""))
                configure(&configuration)
                let session = try HTTPSession(configuration)
                do {
                    try await play(SquidStage(way: way, squid: squid, nginx: nginx, session: session))
                } catch {
                    await session.shutdown()
                    throw error
                }
                await session.shutdown()
            }
        }
    }

    /// The origin's address under another name.
    func url(_ path: String, at host: String = Squid.origin) -> HTTP.Target {
        .url("\(way.origin)://\(host):\(nginx.port)/\(path)")
    }
}
