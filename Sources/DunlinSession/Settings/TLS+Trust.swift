internal import DunlinSecure
internal import FoundationEssentials

extension HTTPSession.TLS {
    /// A name for the set of trusted servers, the same in every process; empty for the usual one.
    func trustName() throws -> String {
        var (own, trust, copier) = (self, HTTPSession.TLS(), SettingsCopier())
        own.visitTrust(&copier)
        trust.visitTrust(&copier)
        if trust == HTTPSession.TLS() { return "" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try HashFunction.sha256.hash(of: Bytes(encoder.encode(Saved(tls: trust)))).hex
    }

    private struct Saved: Encodable {
        let tls: HTTPSession.TLS

        func encode(to encoder: any Encoder) throws { try tls.write(to: encoder) }
    }
}
