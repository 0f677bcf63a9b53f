import Dunlin
import DunlinTesting

/// A server whose certificate is right, and whose key is not the pinned one.
struct PinDemo: DemoPart {
    let title = "A key that is not pinned"
    let code = #"SecurityPolicy(mode: .publicKey, pins: [pin])"#

    func run(on page: DemoPage) async throws {
        let authority = try DemoAuthority()
        defer { authority.server.stop() }
        var configuration = authority.configuration
        configuration.tls.policy = try SecurityPolicy(
            mode: .publicKey, pins: [.init(CertificateAuthority.Key().pin)])
        try await withSession(configuration) { client in
            do {
                let response = try await client.get("users/42", as: .bytes)
                page.say("The server was believed, and answered \(response.status).")
            } catch let error as NetworkError {
                guard let refusal = error.trustRefusal else { throw error }
                explain(refusal, page)
                let count = page.count(authority.server.requests.count, "request")
                page.say(
                    "Refused in phase \(error.phase?.rawValue ?? "none") after \((error.elapsed ?? .zero).readable); "
                        + "the server has read \(count).")
            }
        }
    }

    /// The server's own key, and the pinned one.
    private func explain(_ refusal: NetworkError.TrustRefusal, _ page: DemoPage) {
        for certificate in refusal.path.prefix(1) {
            let details = certificate.details
            page.say("saw       \(details.publicKey)  \(details.subject)")
        }
        for pin in refusal.expected { page.say("expected  \(pin)") }
    }
}
