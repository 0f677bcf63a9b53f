internal import DunlinSemantics

extension HTTPSession {
    /// The part of a configuration that can be saved: everything that is a plain value and not secret.
    ///
    /// ```swift
    /// let text = try JSONEncoder().encode(HTTPSession.SavedConfiguration(session.configuration))
    /// var configuration = try JSONDecoder().decode(HTTPSession.SavedConfiguration.self, from: text).configuration
    /// configuration.credentials = .bearer(token: token)
    /// ```
    ///
    /// It leaves out secrets (`credentials`, user info in the base URL and its query if that has a secret, `cookies`,
    /// the client's identity, key logs, a proxy's user info, fields that are sensitive or whose name or value looks
    /// like it), the user's name (`userID`), code (hooks, resolver, transport, a chooser of proxies, `json`), objects
    /// (`cache`), what is accepted of responses (`acceptedStatuses`, `acceptedContentTypes`), and where this machine
    /// connects (`hostOverrides`, `sockets.localAddress`). The trusted servers are saved completely. A missing
    /// setting has its default, so that a configuration can be written by hand; an invalid one throws.
    public struct SavedConfiguration: Sendable {
        /// A reference, because what copies a configuration in place weighs 27 KB in every program.
        private final class Kept: Sendable {
            let configuration: Configuration

            init(_ configuration: Configuration) { self.configuration = configuration }
        }

        private let kept: Kept

        /// The configuration, with defaults for what is not saved.
        public var configuration: Configuration { kept.configuration }

        /// Creates it without what is not saved.
        public init(_ configuration: Configuration) {
            var (whole, kept) = (configuration, Configuration())
            whole.baseURL = configuration.baseURL.map { Self.withoutSecrets($0, configuration.secretFields) }
            whole.fields = configuration.fields.withoutSecrets(configuration.secretFields)
            whole.proxy = configuration.proxy.withoutSecrets(configuration.secretFields)
            kept.takeSettings(of: whole)
            self.kept = Kept(kept)
        }

        /// The URL without user info, and without its query if that has a secret. Its path is unchanged.
        private static func withoutSecrets(_ url: String, _ secret: HTTP.SecretFields) -> String {
            let url = WebAddress.withoutUserInfo(url)
            if WebAddress.withoutSecretsOfQuery(url, hiding: secret) == url { return url }
            let shown = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            return String(decoding: shown, as: UTF8.self)
        }
    }
}

extension HTTPSession.SavedConfiguration: Codable {
    /// The version of the format that `encode` writes.
    private static let version = 1

    /// Throws for a request serializer that holds closures.
    public func encode(to encoder: any Encoder) throws {
        var (version, configuration) = (Self.version, configuration)
        var writer = SettingsWriter(container: encoder.container(keyedBy: SettingsKey.self))
        try writer.visit("version", &version)
        try configuration.visitSettings(&writer)
    }

    public init(from decoder: any Decoder) throws {
        var (version, configuration) = (Self.version, HTTPSession.Configuration())
        var reader = SettingsReader(container: try decoder.container(keyedBy: SettingsKey.self))
        try reader.visit("version", &version)
        guard version == Self.version else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "the configuration has version \(version), and only \(Self.version) can be read"
                ))
        }
        try configuration.visitSettings(&reader)
        self.init(configuration)
    }
}
