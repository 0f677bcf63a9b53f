import Dunlin
import DunlinTesting

/// A certificate authority that exists in memory for one part of the demo, and a server that it vouches for.
struct DemoAuthority {
    let server: LoopbackServer
    /// Trusts this authority and no other.
    let configuration: HTTPSession.Configuration

    init() throws {
        let authority = try CertificateAuthority(.authority("demo"))
        server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1"))))
        var configuration = HTTPSession.Configuration(baseURL: server.baseURL)
        configuration.tls.roots = .only([.bytes(authority.certificate.der)])
        self.configuration = configuration
    }
}
