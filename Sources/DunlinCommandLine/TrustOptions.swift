package import Dunlin
internal import DunlinTypes

/// The options for trust, and for the client's identity.
package struct TrustOptions: Equatable, Sendable {
    /// The certificates of authorities that are trusted, in addition to the system's.
    package var authorities: [String] = []
    package var certificate: String?
    package var key: String?
    package var pins: [SecurityPolicy.Pin] = []
    /// Whether certificates need not follow RFC 5280 strictly.
    package var acceptsCompatible = false
    package var isInsecure = false

    package init(
        authorities: [String] = [], certificate: String? = nil, key: String? = nil, acceptsCompatible: Bool = false,
        isInsecure: Bool = false
    ) {
        (self.authorities, self.certificate, self.key) = (authorities, certificate, key)
        (self.acceptsCompatible, self.isInsecure) = (acceptsCompatible, isInsecure)
    }

    package static let table: [Option<Self>] = [
        Option(
            "cacert", "ca", value: .file("FILE"), help: "trusts this certificate authority, too (PEM or DER)",
            details: "The system's authorities are trusted as well. It may be given several times."
        ) { $0.authorities.append($1.value) },
        Option(
            "pin", value: .text("sha256/..."), help: "trusts only servers with this public key",
            details: "The key may be that of any certificate of the verified chain. It may be given several times."
        ) { (options, given) throws(UsageError) in options.pins.append(try Self.pin(given.value)) },
        Option(
            "compatible", help: "also trusts certificates that break formal rules",
            details: "Such a certificate breaks RFC 5280 in a point that does not matter for security, "
                + "for instance without a key identifier.", sets: \.acceptsCompatible),
        Option(
            "insecure", letter: "k", help: "trusts every server: no certificate is checked",
            details: "Anybody on the way can read and change everything.", sets: \.isInsecure),
        Option(
            "cert", letter: "E", value: .file("FILE"), help: "the client's certificate (PEM)",
            details: "Its intermediates may follow in the file."
        ) { $0.certificate = $1.value },
        Option(
            "key", value: .file("FILE"), help: "its private key, if not in the same file (PEM)"
        ) { $0.key = $1.value },
    ]

    package static let section = OptionSection("trust", title: "trust over https", table.map(\.text))

    private static func pin(_ text: String) throws(UsageError) -> SecurityPolicy.Pin {
        do {
            return try SecurityPolicy.Pin(text)
        } catch {
            throw UsageError(description: "\(error)")
        }
    }

    /// Throws for options that do not fit together.
    package func check(against url: String) throws(UsageError) {
        if key != nil, certificate == nil { throw UsageError(description: "--key needs --cert as well") }
        if isInsecure, !pins.isEmpty {
            throw UsageError(description: "--insecure and --pin contradict each other; give one")
        }
        if !pins.isEmpty, Self.origin(of: url) == nil {
            throw UsageError(description: "--pin needs an https URL: over http there is no certificate to check")
        }
    }

    /// Throws if a file is not there, before anything is done.
    package func checkFiles() throws(UsageError) {
        for path in authorities + [certificate, key].compactMap(\.self) { try InputFile.check(path) }
    }

    /// A session's configuration for this URL.
    package func configuration(for url: String) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        apply(to: &configuration, for: url)
        return configuration
    }

    /// The origin of the URL is what the pins apply to.
    package func apply(to configuration: inout HTTPSession.Configuration, for url: String) {
        if !authorities.isEmpty { configuration.tls.roots = .systemAnd(authorities.map { .file($0) }) }
        if let certificate {
            configuration.tls.identity = .pem(.file(certificate), key: key.map { .file($0) })
        }
        if isInsecure {
            configuration.tls.policy = .insecure
            // So that it also works on a system without roots.
            configuration.tls.roots = .only([])
        }
        if !pins.isEmpty {
            configuration.tls.policy = SecurityPolicy(mode: .publicKey, pins: Set(pins))
            // Pins for all hosts apply to the host of a base URL.
            configuration.baseURL = Self.origin(of: url)
        }
        if acceptsCompatible { configuration.tls.policy.certificateRules = .compatible }
    }

    /// Scheme, host and port of a URL with one of these schemes, without user info; nil for any other.
    package static func origin(of url: String, _ schemes: [String] = ["https"]) -> String? {
        for scheme in schemes.map({ $0 + "://" }) where url.prefix(scheme.count).lowercased() == scheme {
            let authority = url.utf8.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
            return scheme + (Substring(authority).parts(at: UInt8(ascii: "@")).last ?? "")
        }
        return nil
    }
}
