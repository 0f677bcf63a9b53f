internal import DunlinSemantics

extension HTTP {
    /// Query parameters in the given order, with repeated keys: `["q": text, "page": 2, "tag": ["new", "red"]]`.
    ///
    /// An array repeats its key, and a nil value is left out. For parameters with more structure, use
    /// `Query(parameters, style:)`; for a key without a value, use `HTTP.QueryFlag()`.
    public struct Query: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        @usableFromInline struct Pair: Sendable, Hashable {
            var key: String
            var value: String?
            /// Whether the key is the text of any number of pairs, encoded already.
            var isEncoded = false
        }

        @usableFromInline var pairs: [Pair] = []

        @inlinable public init() {}

        public init(dictionaryLiteral elements: (String, (any HTTP.QueryValue)?)...) {
            for (key, value) in elements { append(key, value) }
        }

        /// Creates a query from a dictionary, sorted by key because a dictionary has no order.
        public init(_ dictionary: [String: some HTTP.QueryValue]) {
            for (key, value) in dictionary.sorted(by: { $0.key.precedesInUTF16($1.key) }) { append(key, value) }
        }

        /// Parses a query from a URL, by the rules of forms: `Query(parsing: "q=a%20b&tag=new&tag=red")["q"]` is `a b`.
        /// Every text is a query; a leading `?` is skipped.
        public init(parsing text: String) {
            pairs = Self.pairs(
                in: Substring(text.utf8.first == UInt8(ascii: "?") ? text.utf8.dropFirst() : text.utf8[...]))
        }

        private static func pairs(in text: Substring) -> [Pair] {
            text.utf8.split(separator: UInt8(ascii: "&")).map { item in
                let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                    .map { PercentEncoding.meaning(ofQueryPart: Substring($0)) }
                return Pair(key: parts[0], value: parts.count > 1 ? parts[1] : nil)
            }
        }

        /// The value of the first parameter with this name; empty if it has no value, nil if there is no such
        /// parameter.
        public subscript(_ key: String) -> String? { values(of: key).first }

        /// The values of all parameters with this name, in order.
        public func values(of key: String) -> [String] {
            items.filter { $0.key.hasSameBytes(as: key) }.map { $0.value ?? "" }
        }

        /// All parameters in order; the value is nil for one without a value.
        public var items: [(key: String, value: String?)] {
            pairs.flatMap { $0.isEncoded ? Self.pairs(in: $0.key[...]) : [$0] }.map { ($0.key, $0.value) }
        }

        /// Creates a query from text that is encoded already and used unchanged. Throws for a character that must be
        /// percent-encoded, which includes brackets and everything beyond ASCII, and for a `%` without two hexadecimal
        /// digits.
        public init(encoded text: String) throws(HTTP.QueryError) {
            if let (offset, problem) = PercentEncoding.problem(inQuery: text) {
                throw HTTP.QueryError(problem, at: offset, of: text.utf8.count)
            }
            self.init(written: text)
        }

        /// Creates a query from text that Dunlin encoded.
        init(written text: String) {
            if !text.isEmpty { pairs = [Pair(key: text, isEncoded: true)] }
        }

        /// Creates a query of parameters with any structure, in a style.
        public init(_ parameters: Parameters, style: HTTP.ParameterStyle = HTTP.ParameterStyle()) throws {
            self.init(written: try style.encoded(parameters))
        }

        public var isEmpty: Bool { pairs.isEmpty }

        /// Adds a parameter, once for each text of its value; none for nil.
        public mutating func append(_ key: String, _ value: (any HTTP.QueryValue)?) {
            if value is HTTP.QueryFlag {
                pairs.append(Pair(key: key, value: nil))
            } else {
                for text in value?.queryTexts ?? [] { pairs.append(Pair(key: key, value: text)) }
            }
        }

        /// The query as in a URL: everything but letters, digits and `-._~/?` is escaped.
        public var encoded: String {
            var bytes: [UInt8] = []
            for pair in pairs {
                if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
                if pair.isEncoded {
                    bytes.append(contentsOf: pair.key.utf8)
                    continue
                }
                bytes.appendEscaped(pair.key, keeping: .query)
                guard let value = pair.value else { continue }
                bytes.append(UInt8(ascii: "="))
                bytes.appendEscaped(value, keeping: .query)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Stands for a missing value: `["verbose": HTTP.QueryFlag()]` is `?verbose`.
    public struct QueryFlag: HTTP.QueryValue, Sendable, Hashable {
        public init() {}

        public var queryTexts: [String] { [""] }
    }

    /// The parameters of a request, in whatever form its serializer writes them.
    public typealias Parameters = DynamicValue.Members
}
