extension XML {
    /// What an element or an attribute is called.
    public struct Name: Sendable, Hashable, CustomStringConvertible {
        /// The namespace's URI; nil for none.
        public var namespace: String?
        /// Without its prefix.
        public var local: String
        /// As the document has it; what it stands for is `namespace`.
        public var prefix: String?

        public init(_ local: String, namespace: String? = nil, prefix: String? = nil) {
            self.local = local
            self.namespace = namespace
            self.prefix = prefix
        }

        public var description: String { prefix.map { "\($0):\(local)" } ?? local }

        /// Prefixes do not count: two that stand for one namespace are the same.
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
        /// With references resolved, and each line end and tab made a space (XML 1.0 §3.3.3).
        public var value: String

        public init(_ name: Name, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}
