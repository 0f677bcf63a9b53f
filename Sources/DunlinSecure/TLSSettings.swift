/// The settings of TLS negotiation, for a session's configuration.
public struct TLSSettings: Sendable, Equatable {
    public enum Version: Sendable, Hashable, Comparable, CaseIterable {
        case tls12
        case tls13
    }

    /// The allowed versions. The latest that both sides speak is used.
    public var versions: ClosedRange<Version> = .tls12 ... .tls13
    /// OpenSSL's cipher list for TLS 1.2: forward secrecy and authenticated encryption only. Processors have
    /// instructions for AES, so it comes first.
    public var ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aNULL:!PSK:!SRP"
    /// OpenSSL's list of TLS 1.3 cipher suites.
    public var suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// OpenSSL's list of groups for key exchange; nil for the best that the library has.
    public var groups: String?
    /// The protocols to offer by ALPN (RFC 7301), the best first; empty to offer none.
    public var applicationProtocols = ["http/1.1"]
    /// Whether to ask the server for a stapled OCSP response (RFC 6066 §8).
    public var asksForStaple = false
    /// Whether sessions are remembered, so that the next connection need not prove everything again.
    public var resumes = true
    /// The file to append the secrets of all connections to, for a protocol analyser (as `SSLKEYLOGFILE` does). Whoever
    /// has it and a recording can read everything.
    public var keyLogPath: String?

    public init() {}
}
