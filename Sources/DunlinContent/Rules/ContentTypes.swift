internal import DunlinSemantics

extension HTTP {
    /// A set of content types: `["application/json", "text/*", "application/*+json"]`.
    ///
    /// `type/*` matches any subtype, `*/subtype` any type, `+suffix` or `type/*+suffix` any type with this suffix (RFC
    /// 6839), `*/*` anything. Types are compared without their parameters and in any case.
    public struct ContentTypes: Sendable, Hashable {
        /// The patterns in lower case, in the given order.
        public private(set) var patterns: [String]

        public init(_ patterns: [String]) {
            self.patterns = patterns.map { $0.lowercased() }
        }

        public func union(_ other: ContentTypes) -> ContentTypes {
            var both = self
            both.patterns += other.patterns.filter { !patterns.contains($0) }
            return both
        }

        /// Returns whether a Content-Type field names one of the types.
        public func contains(_ field: String) -> Bool {
            // Most servers write the type exactly as in the set, with or without parameters.
            let plain = field.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
            if patterns.contains(where: { $0.utf8.elementsEqual(plain) }) { return true }
            guard let essence = MediaType(field)?.essence else { return false }
            return patterns.contains { Self.takes(essence, by: $0) }
        }

        private static func takes(_ essence: String, by pattern: String) -> Bool {
            if pattern.hasPrefix("+") { return essence.hasSuffix(pattern) }
            let wanted = pattern.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let given = essence.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard wanted.count == 2, given.count == 2 else { return false }
            guard wanted[0] == "*" || wanted[0] == given[0] else { return false }
            if wanted[1].hasPrefix("*+") { return given[1].hasSuffix(wanted[1].dropFirst()) }
            return wanted[1] == "*" || wanted[1] == given[1]
        }
    }
}

extension HTTP.ContentTypes: ExpressibleByArrayLiteral {
    public init(arrayLiteral patterns: String...) {
        self.init(patterns)
    }
}

extension HTTP.ContentTypes: Codable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(patterns)
    }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String].self))
    }
}
