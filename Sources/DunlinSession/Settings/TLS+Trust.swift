internal import DunlinSecure
internal import FoundationEssentials

extension HTTPSession.TLS {
    /// A name for the set of trusted servers, the same in every process; empty for the usual one. `contents` are those
    /// of the files that the settings name: whoever replaces a root trusts other servers.
    func trustName(_ contents: [Bytes]) throws -> String {
        var (own, trust, copier) = (self, HTTPSession.TLS(), SettingsCopier())
        own.visitTrust(&copier)
        trust.visitTrust(&copier)
        if trust == HTTPSession.TLS() { return "" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var text = try [UInt8](encoder.encode(Saved(tls: trust)))
        for content in contents {
            text += try HashFunction.sha256.hash(of: content).withUnsafeBytes { [UInt8]($0) }
        }
        return try HashFunction.sha256.hash(of: Bytes(text)).hex
    }

    private struct Saved: Encodable {
        let tls: HTTPSession.TLS

        func encode(to encoder: any Encoder) throws { try tls.write(to: encoder) }
    }
}
