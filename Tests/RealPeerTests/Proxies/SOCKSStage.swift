import Dunlin
import DunlinTesting
import LeakChecking
import Testing

/// A session, and an origin at one of this machine's addresses, without a proxy until a test names one.
struct SOCKSStage {
    struct Way: Sendable, CustomTestStringConvertible {
        let scheme: String
        let origin: String
        /// Where the origin is, and how it is written.
        let endpoint: LoopbackServer.Endpoint
        let host: String

        static let all = ["socks5", "socks5h"].flatMap { scheme in
            ["http", "https"].flatMap { origin in
                [(LoopbackServer.Endpoint.ipv4, "127.0.0.1"), (.ipv6, "[::1]"), (.ipv4, "localhost")].map {
                    Way(scheme: scheme, origin: origin, endpoint: $0, host: $1)
                }
            }
        }
        var testDescription: String { "\(origin)://\(host) by \(scheme)" }
    }

    let server: LoopbackServer
    let session: HTTPSession
    let baseURL: String

    static func with(
        _ way: Way, configure: (inout HTTPSession.Configuration) -> Void = { _ in },
        _ play: (SOCKSStage) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue(.server("127.0.0.1", "::1", "localhost"))
        let server = try LoopbackServer(way.endpoint, tls: way.origin == "https" ? .init(identity) : nil)
        defer { server.stop() }
        server.respond { .response(body: $0.method == .get ? "from the origin" : $0.body) }
        let baseURL = "\(way.origin)://\(way.host):\(server.port)"
        var configuration = HTTPSession.Configuration(baseURL: baseURL)
        configuration.useLoopOfTest()
        configuration.tls.roots = .only([.bytes(authority.certificate.der)])
        configure(&configuration)
        let session = try HTTPSession(configuration)
        do {
            try await play(SOCKSStage(server: server, session: session, baseURL: baseURL))
        } catch {
            await session.shutdown()
            throw error
        }
        await session.shutdown()
    }

    func get(_ proxy: String) async throws -> HTTPSession.Response<String> {
        try await session.get("path", options: .init(proxy: .url(proxy)), as: .string)
    }

    func failure(_ proxy: String) async throws -> NetworkError {
        try await NetworkError.thrown { _ = try await get(proxy) }
    }
}
