import Dunlin
import DunlinCommandLine

/// The options for trust, and for the client's identity.
struct TrustOptions: Equatable {
    /// The certificates of authorities that are trusted, in addition to the system's.
    var authorities: [String] = []
    var certificate: String?
    var key: String?
    var pins: [SecurityPolicy.Pin] = []
    /// Whether certificates need not follow RFC 5280 strictly.
    var acceptsCompatible = false
    var isInsecure = false

    /// Takes an option and its value from the arguments. Returns false for any other option.
    mutating func take(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Bool {
        switch option {
        case "--ca": authorities.append(try rest.takeValue(of: option))
        case "--cert": certificate = try rest.takeValue(of: option)
        case "--key": key = try rest.takeValue(of: option)
        case "--pin": pins.append(try Self.pin(try rest.takeValue(of: option)))
        case "--compatible": acceptsCompatible = true
        case "--insecure": isInsecure = true
        default: return false
        }
        return true
    }

    private static func pin(_ text: String) throws(UsageError) -> SecurityPolicy.Pin {
        do {
            return try SecurityPolicy.Pin(text)
        } catch {
            throw UsageError(description: "\(error)")
        }
    }

    /// Throws for options that do not fit together.
    func check(against url: String) throws(UsageError) {
        if key != nil, certificate == nil { throw UsageError(description: "--key needs --cert as well") }
        if isInsecure, !pins.isEmpty {
            throw UsageError(description: "--insecure and --pin contradict each other; give one")
        }
        if !pins.isEmpty, Self.origin(of: url) == nil {
            throw UsageError(description: "--pin needs an https URL: over http there is no certificate to check")
        }
    }

    /// A session's configuration for this URL.
    func configuration(for url: String) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
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
        return configuration
    }

    /// Scheme, host and port of a URL with one of these schemes, without user info; nil for any other.
    static func origin(of url: String, _ schemes: [String] = ["https"]) -> String? {
        for scheme in schemes.map({ $0 + "://" }) where url.prefix(scheme.count).lowercased() == scheme {
            let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
            return scheme + (authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "")
        }
        return nil
    }
}
