internal import DunlinSecure
internal import FoundationEssentials

extension HTTPSession.TLS {
    /// A name of what decides which servers are trusted, the same in every process; empty for the usual.
    func trustName() throws -> String {
        if policy == SecurityPolicy(), roots == .system, revocation == Revocation() { return "" }
        var trust = HTTPSession.TLS(policy: policy, roots: roots)
        trust.revocation = revocation
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try HashFunction.sha256.hash(of: Bytes(encoder.encode(Saved(tls: trust)))).hex
    }

    private struct Saved: Encodable {
        let tls: HTTPSession.TLS

        func encode(to encoder: any Encoder) throws {
            var (tls, writer) = (tls, SettingsWriter(container: encoder.container(keyedBy: SettingsKey.self)))
            try tls.visitSettings(&writer)
        }
    }
}
