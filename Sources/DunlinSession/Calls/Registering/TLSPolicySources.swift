/// Where a session's connections get their TLS policies from: one source for origins, and one for the proxies before
/// them, which knows nothing of what the first says.
struct TLSPolicySources: Sendable {
    let origins: SessionTLSPolicySource
    let proxies: SessionTLSPolicySource

    /// Throws `NetworkError` with code `invalidConfiguration`.
    init(_ configuration: HTTPSession.Configuration, _ clearText: ClearTextRule, _ warnings: SecurityWarnings) throws {
        origins = try SessionTLSPolicySource(
            configuration.tls, configuration.authenticationHandler, baseURL: configuration.baseURL, clearText, warnings)
        do {
            proxies = try SessionTLSPolicySource(
                configuration.proxyTLS, nil, baseURL: nil, ClearTextRule(configuration.proxyTLS.policy), warnings)
        } catch var error as NetworkError {
            error.reason = "proxyTLS: \(error.reason)"
            throw error
        }
    }
}
