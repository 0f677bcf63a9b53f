internal import DunlinSemantics

extension HTTPSession {
    /// What can be kept of a configuration, in a file or elsewhere: all that is a plain value and no secret.
    ///
    /// ```swift
    /// let text = try JSONEncoder().encode(HTTPSession.SavedConfiguration(session.configuration))
    /// var configuration = try JSONDecoder().decode(HTTPSession.SavedConfiguration.self, from: text).configuration
    /// configuration.credentials = .bearer(token: token)
    /// ```
    ///
    /// Left out are secrets (`credentials`, user info in the base URL, `cookies`, the client's identity, key logs,
    /// fields that are sensitive or whose name looks like it), what is code (hooks, resolver, transport), and where
    /// this machine connects (`hosts`, `sockets.localAddress`). Whom to trust is kept whole. What is missing in a text
    /// is as in a new configuration, so that one can be written by hand; what is there and has no meaning throws.
    public struct SavedConfiguration: Sendable {
        /// With defaults for what is not kept.
        public let configuration: Configuration

        /// Without what is not kept.
        public init(_ configuration: Configuration) {
            var kept = Configuration(baseURL: configuration.baseURL.map(WebAddress.withoutUserInfo))
            kept.socketPath = configuration.socketPath
            kept.fields = configuration.fields.filtered(droppingSensitive: true) {
                !configuration.secretFields.mayContain($0)
            }
            kept.secretFields = configuration.secretFields
            kept.timeouts = configuration.timeouts
            kept.requestSerializer = configuration.requestSerializer
            kept.connections = configuration.connections
            kept.queue = configuration.queue
            kept.nameResolution = configuration.nameResolution
            kept.sockets = configuration.sockets
            kept.sockets.localAddress = nil
            kept.interfaces = configuration.interfaces
            kept.waitsForConnectivity = configuration.waitsForConnectivity
            kept.emitsReachabilityEvents = configuration.emitsReachabilityEvents
            kept.limits = configuration.limits
            kept.redirects = configuration.redirects
            kept.retry = configuration.retry
            kept.tls = configuration.tls
            kept.tls.identity = nil
            kept.tls.keyLog = .off
            self.configuration = kept
        }
    }
}

extension HTTPSession.SavedConfiguration: Codable {
    /// Of the form that `encode` writes.
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
                    codingPath: decoder.codingPath, debugDescription: "version \(version) of a configuration is unknown"
                ))
        }
        try configuration.visitSettings(&reader)
        self.init(configuration)
    }
}
