import Dunlin
import DunlinCommandLine
import DunlinTesting
import Folders
import Foundation
import Testing

@testable import DunlinCLI

/// What `get` makes of servers and their certificates, and what a person reads of it.
@Suite(.timeLimit(.minutes(10)))
struct TrustOptionsTests {
    /// The session that the command makes of these arguments, and what comes of its request.
    private static func get(
        _ server: LoopbackServer, _ arguments: [String]
    ) async throws -> Result<String, any Error> {
        let url = server.baseURL + "/x?y"
        guard case .get(_, let options) = try Command(arguments: ["get", url] + arguments) else {
            return .success("no get")
        }
        let session = try HTTPSession(options.trust.configuration(for: url))
        let result: Result<String, any Error>
        do {
            result = .success(try await session.get(HTTP.Target(url), as: .string).value)
        } catch {
            result = .failure(error)
        }
        await session.shutdown()
        return result
    }

    private static func complaint(
        _ server: LoopbackServer, _ arguments: [String] = []
    ) async throws -> [String] {
        switch try await get(server, arguments) {
        case .success(let text): ["succeeded: \(text)"]
        case .failure(let error): ErrorText.lines(of: error)
        }
    }

    @Test func `the user's own authorities are trusted and a client certificate is sent`() async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority())
        let client = try authority.issue(.client("Ada"))
        var tls = LoopbackServer.TLS(try authority.issue(.server("127.0.0.1")))
        tls.clientCertificate = .required
        let server = try LoopbackServer(tls: tls)
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let authorities = ["--ca", try folder.write(authority.pem, as: "ca.pem")]
        let (certificate, key) = (
            try folder.write(client.chainPEM, as: "me.pem"), try folder.write(client.privateKeyPEM, as: "key.pem")
        )
        let both = try folder.write(client.chainPEM + client.privateKeyPEM, as: "both.pem")
        for identity in [["--cert", certificate, "--key", key], ["--cert", both]] {
            #expect(try await Self.get(server, authorities + identity).get() == "x")
        }
        #expect(server.requests.allSatisfy { $0.handshake?.clientCertificate == client.der })
        let lines = try await Self.complaint(server, authorities)
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("the server requires a client certificate and got none "), "\(lines)")
    }

    @Test func `a pin mismatch shows the pins that were seen and the pin that was expected`() async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority())
        let issued = try authority.issue(.server("127.0.0.1").with(CertificateAuthority.Key()))
        let server = try LoopbackServer(tls: .init(issued))
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let authorities = ["--ca", try folder.write(authority.pem, as: "ca.pem")]
        let other = try CertificateAuthority.Key().pin
        #expect(try await Self.get(server, authorities + ["--pin", issued.pin]).get() == "x")
        #expect(try await Self.get(server, authorities + ["--pin", other, "--pin", issued.pin]).get() == "x")
        let lines = try await Self.complaint(server, authorities + ["--pin", other])
        #expect(lines[0].hasPrefix("pin mismatch for 127.0.0.1 [\(server.baseURL)"), "\(lines)")
        #expect(
            lines.dropFirst() == [
                "  saw       \(try issued.pin)  CN=127.0.0.1",
                "  saw       \(try authority.certificate.pin)  CN=Dunlin test root", "  expected  \(other)",
            ])
    }

    @Test(arguments: [
        (CertificateTemplate.server("127.0.0.1").expired, "the certificate of 127.0.0.1 expired on 20"),
        (.server("a.test", "b.test"), "the certificate is for a.test, b.test, not for 127.0.0.1"),
        (.server("127.0.0.1").commonNameOnly, "the certificate of 127.0.0.1 names no host"),
    ])
    func `a refused certificate is shown, with the reason in one line`(
        template: CertificateTemplate, words: String
    ) async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority())
        let server = try LoopbackServer(tls: .init(authority.issue(template)))
        defer { server.stop() }
        let lines = try await Self.complaint(server, ["--ca", try folder.write(authority.pem, as: "ca.pem")])
        #expect(lines[0].hasPrefix(words), "\(lines)")
        #expect(lines[0].contains("(in phase tls after "))
        #expect(!lines[0].contains("invalid. You might"), "the sentence for those who cannot do anything about it")
        #expect(lines.dropFirst().first?.hasPrefix("  saw       sha256/") == true)
    }

    @Test func `an unknown issuer is named, and so is the option to trust it`() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1"))))
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let lines = try await Self.complaint(server)
        #expect(lines[0].hasPrefix("the chain of 127.0.0.1 ends at an unknown issuer: CN=Dunlin test root"), "\(lines)")
        #expect(lines.last == "  to trust a certificate authority of your own, add --ca FILE")
        #expect(try await Self.get(server, ["--insecure"]).get() == "x")
    }

    @Test func `a certificate that breaks only the letter is refused with the option that accepts it`() async throws {
        let (folder, authority) = (try Folder(), try CertificateAuthority())
        let server = try LoopbackServer(tls: .init(authority.issue(.server("127.0.0.1").withoutAuthorityKey)))
        defer { server.stop() }
        server.respond { _ in .response(body: "x") }
        let authorities = ["--ca", try folder.write(authority.pem, as: "ca.pem")]
        let lines = try await Self.complaint(server, authorities)
        #expect(lines[0].hasPrefix("the certificate of 127.0.0.1 breaks the rules for certificates"), "\(lines)")
        #expect(lines.last == "  to accept certificates that break only formal rules of RFC 5280, add --compatible")
        #expect(try await Self.get(server, authorities + ["--compatible"]).get() == "x")
    }

    @Test func `a file that cannot be read is named once`() throws {
        for arguments in [["--ca", "/nonexistent.pem"], ["--cert", "/nonexistent.pem"]] {
            guard case .get(let url, let options) = try Command(arguments: ["get", "https://a.test"] + arguments)
            else { return }
            let error = #expect(throws: NetworkError.self) { try HTTPSession(options.trust.configuration(for: url)) }
            let lines = error.map { ErrorText.lines(of: $0) }
            #expect(lines?.count == 1)
            let parts = lines?[0].split(separator: "/nonexistent.pem", omittingEmptySubsequences: false)
            #expect(parts?.count == 2, "it is named once: \(lines ?? [])")
        }
    }

    @Test func `a session that trusts every server warns of it`() async throws {
        var configuration = TrustOptions(isInsecure: true).configuration(for: "https://a.test")
        let told = LoopbackServer.Gate()
        configuration.securityWarningHandler = { warning in
            if warning.description == "certificates are not checked: every server is trusted" { told.open() }
        }
        let session = try HTTPSession(configuration)
        try await told.opened()
        await session.shutdown()
    }
}
