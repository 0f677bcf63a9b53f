/// What is negotiated, and how: one value for each configuration of a session.
public struct TLSSettings: Sendable, Equatable {
    public enum Version: Sendable, Hashable, Comparable, CaseIterable {
        case tls12
        case tls13
    }

    /// 1.2 and 1.3. The later one that both sides speak is used.
    public var versions: ClosedRange<Version> = .tls12 ... .tls13
    /// OpenSSL's cipher list for TLS 1.2: forward secrecy and authenticated encryption only. Processors have
    /// instructions for AES, so it comes first.
    public var ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aNULL:!PSK:!SRP"
    /// OpenSSL's list of TLS 1.3 cipher suites.
    public var suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    /// OpenSSL's list of groups for key exchange; nil for the best that the library has.
    public var groups: String?
    /// Offered by ALPN (RFC 7301), the best first. Nothing is offered when this is empty.
    public var applicationProtocols = ["http/1.1"]
    /// Asks the server for a stapled OCSP response (RFC 6066 §8).
    public var asksForStaple = false
    /// Remembers sessions, so that the next connection need not prove everything again.
    public var resumes = true
    /// Where the secrets of all connections are appended for a protocol analyser (the file `SSLKEYLOGFILE` names).
    /// Whoever has this file and a recording reads everything.
    public var keyLogPath: String?

    public init() {}
}
