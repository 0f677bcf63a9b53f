/// The sources of a session's TLS policies: one for origins, and a separate one for proxies.
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
