internal import DunlinTransport

extension HTTPSession {
    /// What changes whenever something that says who asks is replaced, even if the former is put back.
    package var epoch: Epoch {
        let sources = core.tlsPolicySources
        return Epoch(
            replacements: core.builder.baseOriginSettings.replacements,
            generation: sources.origins.latestPolicy.tlsGeneration,
            proxyGeneration: sources.proxies.latestPolicy.tlsGeneration,
            passwords: core.authentication.compactMap { ($0 as? PasswordStage)?.memories.shared.number }.first,
            jar: core.configuration.cookies?.edition)
    }

    package struct Epoch: Sendable, Hashable {
        fileprivate let replacements: Int
        fileprivate let generation: UInt64
        fileprivate let proxyGeneration: UInt64
        fileprivate let passwords: String?
        fileprivate let jar: CookieJar.Edition?
    }
}
