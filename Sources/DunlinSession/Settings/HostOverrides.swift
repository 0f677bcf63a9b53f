extension HTTPSession {
    /// Addresses to connect to for certain hosts instead of their own.
    ///
    /// ```swift
    /// options.hostOverrides = ["api.example.com": .v4(0x7F00_0001, port: 8443)]
    /// ```
    ///
    /// A key is a host, for any port, or `host:port`, which takes precedence; an IPv6 host is written in brackets. Port
    /// 0 in the address means the requested port. Everything else is unchanged: the Host field and the certificate's
    /// name are the URL's. Such a connection is used only by requests with the same override.
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

        /// The overrides as text, the same for equal overrides.
        var texts: [String] { entries.sorted { $0.key < $1.key }.map { "\($0.key) at \($0.value)" } }
    }
}
