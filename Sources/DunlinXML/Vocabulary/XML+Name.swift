extension XML {
    /// The name of an element or attribute.
    public struct Name: Sendable, Hashable, CustomStringConvertible {
        /// The namespace's URI; nil for none.
        public var namespace: String?
        /// The name without its prefix.
        public var local: String
        /// The prefix as written; `namespace` is what it stands for.
        public var prefix: String?

        public init(_ local: String, namespace: String? = nil, prefix: String? = nil) {
            self.local = local
            self.namespace = namespace
            self.prefix = prefix
        }

        public var description: String { prefix.map { "\($0):\(local)" } ?? local }

        /// Compares names without their prefixes, which may differ for the same namespace.
        public static func == (left: Name, right: Name) -> Bool {
            left.local == right.local && left.namespace == right.namespace
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(local)
            hasher.combine(namespace)
        }
    }

    public struct Attribute: Sendable, Hashable {
        public var name: Name
        /// The value, with references resolved, and each line end and tab as a space (XML 1.0 §3.3.3).
        public var value: String

        public init(_ name: Name, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}
