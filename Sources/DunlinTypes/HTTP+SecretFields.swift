extension HTTP {
    /// The names of fields whose values are secrets: fields of heads, and those of queries, forms and JSON. One list
    /// for everything: no description, error, event, trace or `curl` command shows these values, no redirect takes a
    /// head's to another origin, and none of a request's is written to a disk. A cache on a disk has responses as they
    /// came, `Set-Cookie` included. What merely looks like a secret is treated
    /// like one wherever that costs little: it is not printed, not written to a disk, and says who asks, so that what
    /// it brought is no other user's. Redirects alone take it along.
    ///
    /// The usual ones are always among them. A field of any name is secret too if it was appended as sensitive.
    ///
    /// ```swift
    /// configuration.secretFields = ["X-Tenant-Key", "ticket"]
    /// ```
    ///
    /// What redirects take along is by `contains`, all else by `hides` too; of heads, challenges and `Idempotency-Key`
    /// are printed, for their values are no secrets.
    public struct SecretFields: Sendable, Hashable {
        /// The names beside the usual ones, in lower case.
        public private(set) var more: Set<String> = []

        /// The usual ones and no others.
        public static let usual = HTTP.SecretFields()

        public init() {}

        /// The usual ones and these, in any case.
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

        /// Whether a name, in any case, is among them.
        public func contains(_ name: String) -> Bool {
            let name = name.lowercased()
            return Self.names.contains(name) || more.contains(name)
        }

        /// Whether a field of that name, in any case, is secret or looks like it (`hides`). Nobody knows all names that
        /// there are, so this is asked of fields that may say who asks, and of those that are stored on a disk.
        public func mayContain(_ name: String) -> Bool { contains(name) || hides(name) }
    }
}

extension HTTP.SecretFields: ExpressibleByArrayLiteral {
    /// The usual ones and these.
    public init(arrayLiteral names: String...) {
        self.init(names)
    }
}

extension Fields {
    /// Marks fields of these names, as if they had been appended as sensitive.
    package mutating func mark(_ secret: HTTP.SecretFields) {
        // Those that are usual are known by their names.
        if secret.more.isEmpty { return }
        mark { secret.more.contains($0.lowercased()) }
    }
}
