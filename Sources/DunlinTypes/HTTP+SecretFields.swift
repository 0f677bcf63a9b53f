extension HTTP {
    /// The names whose values are secret, in heads, queries, forms and JSON.
    ///
    /// One list serves every feature: no description, error, event, trace or `curl` command shows these values; no
    /// redirect takes such a head field to another origin; none of the values is written to disk; and each counts as
    /// saying who asks, so what it brought is not given to other users. The same holds for a value that merely looks
    /// secret, by its name.
    ///
    /// The usual names are always included. A field with any name is secret too if it was appended as sensitive.
    ///
    /// ```swift
    /// configuration.secretFields = ["X-Tenant-Key", "ticket"]
    /// ```
    ///
    /// Among head fields, challenges and `Idempotency-Key` are printed, since their values are not secret.
    public struct SecretFields: Sendable, Hashable {
        /// The names added to the usual ones, in lower case.
        public private(set) var more: Set<String> = []

        /// The usual names and no others.
        public static let usual = HTTP.SecretFields()

        public init() {}

        /// Creates a list of the usual names and `names`, in any case.
        public init(_ names: some Sequence<String>) {
            for name in names { insert(name) }
        }

        public mutating func insert(_ name: String) {
            let name = name.lowercased()
            if !Self.names.contains(name) { more.insert(name) }
        }

        public func union(_ names: some Sequence<String>) -> HTTP.SecretFields {
            var all = self
            for name in names { all.insert(name) }
            return all
        }

        /// Whether the list has a name, in any case.
        public func contains(_ name: String) -> Bool {
            let name = name.lowercased()
            return Self.names.contains(name) || more.contains(name)
        }

        /// Whether a field with this name, in any case, is secret or looks so (`hides`). Since no list of names is
        /// complete, this decides for fields that may say who asks, and for fields stored on disk.
        public func mayContain(_ name: String) -> Bool { contains(name) || hides(name) }
    }
}

extension HTTP.SecretFields: ExpressibleByArrayLiteral {
    /// Creates a list of the usual names and these.
    public init(arrayLiteral names: String...) {
        self.init(names)
    }
}

extension Fields {
    /// Marks the fields with these names, as if they had been appended as sensitive.
    package mutating func mark(_ secret: HTTP.SecretFields) {
        // The usual ones are recognised by their names.
        if secret.more.isEmpty { return }
        mark { secret.more.contains($0.lowercased()) }
    }
}
