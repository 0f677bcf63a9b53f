extension HTTPSession.TLS {
    /// The settings for a `curl` command.
    var curl: CurlSettings.Trust {
        let sources: [Source] =
            switch roots {
            case .system: []
            case .only(let sources), .systemAnd(let sources): sources
            }
        return CurlSettings.Trust(
            believesAll: policy.allowsInvalidCertificates && !policy.validatesDomainName && !policy.isPinning,
            isPinning: policy.isPinning, authorities: sources.map(\.path), identity: identity?.curl)
    }
}

extension HTTPSession.TLS.Source {
    fileprivate var path: String? { if case .file(let path) = self { path } else { nil } }
}

extension HTTPSession.ClientIdentity {
    fileprivate var curl: CurlSettings.Identity {
        let named: CurlSettings.Identity.Form =
            switch form {
            case .pem(.file(let path), nil): .pem(path, key: .withCertificates)
            case .pem(.file(let path), let key?): .pem(path, key: key.path.map { .file($0) } ?? .unnamed)
            case .pkcs12(.file(let path)): .pkcs12(path)
            case .pem, .pkcs12: .unnamed
            }
        return CurlSettings.Identity(named, passphrase: passphrase)
    }
}
