extension HTTPSession {
    /// Where to connect to instead of where a host's name says.
    ///
    /// ```swift
    /// options.hostOverrides = ["api.example.com": .v4(0x7F00_0001, port: 8443)]
    /// ```
    ///
    /// A key is a host, for any port, or `host:port`, which counts before it; IPv6 hosts stand in brackets. Port 0 in
    /// the address means the port that was asked for. Everything else stays as it is: the Host field and the name that
    /// a certificate must show are the URL's. Connections made this way are used by no request that was not sent the
    /// same way.
    public struct HostOverrides: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        private(set) var entries: [String: HTTP.SocketAddress]

        public init(_ entries: [String: HTTP.SocketAddress] = [:]) {
            self.entries = entries
        }

        public init(dictionaryLiteral elements: (String, HTTP.SocketAddress)...) {
            entries = Dictionary(elements) { $1 }
        }

        public subscript(host: String) -> HTTP.SocketAddress? {
            get { entries[host] }
            set { entries[host] = newValue }
        }

        public var isEmpty: Bool { entries.isEmpty }
    }
}
