extension HTTPSession {
    /// Addresses to connect to instead of those that hosts' names stand for.
    ///
    /// ```swift
    /// options.hostOverrides = ["api.example.com": .v4(0x7F00_0001, port: 8443)]
    /// ```
    ///
    /// A key is a host, for any port, or `host:port`, which overrides the former; an IPv6 host is written in brackets.
    /// Port 0 in the address means the port that was asked for. Everything else stays as it is: the Host field and the
    /// name in the certificate are the URL's. A connection made this way is used only by requests with the same
    /// override.
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

        /// The same texts for equal overrides.
        var texts: [String] { entries.sorted { $0.key < $1.key }.map { "\($0.key) at \($0.value)" } }
    }
}
