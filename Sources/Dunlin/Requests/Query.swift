extension HTTPSession {
    /// Query parameters in the order given, repeated keys included: `["tag": "a", "tag": "b", "flag": nil]`.
    public struct Query: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        @usableFromInline struct Pair: Sendable, Hashable {
            var key: String
            var value: String?
        }

        @usableFromInline var pairs: [Pair] = []

        @inlinable public init() {}

        public init(dictionaryLiteral elements: (String, String?)...) {
            pairs = elements.map { Pair(key: $0.0, value: $0.1) }
        }

        public var isEmpty: Bool { pairs.isEmpty }

        /// Adds a parameter; without a value the bare key is sent.
        public mutating func append(_ key: String, _ value: String?) {
            pairs.append(Pair(key: key, value: value))
        }

        /// As it stands in a URL: everything but letters, digits and `-._~/?` escaped.
        public var encoded: String {
            var text = ""
            for pair in pairs {
                if !text.isEmpty { text += "&" }
                text.appendEscaped(pair.key, keeping: .query)
                guard let value = pair.value else { continue }
                text += "="
                text.appendEscaped(value, keeping: .query)
            }
            return text
        }
    }
}
