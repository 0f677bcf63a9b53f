internal import DunlinSemantics

extension HTTP {
    /// Query parameters in the order given, repeated keys included: `["tag": "a", "tag": "b", "flag": nil]`.
    ///
    /// For parameters with more structure than pairs of text, use `Query(parameters, style:)`.
    public struct Query: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        @usableFromInline struct Pair: Sendable, Hashable {
            var key: String
            var value: String?
            /// The key is any number of pairs, written already.
            var isEncoded = false
        }

        @usableFromInline var pairs: [Pair] = []

        @inlinable public init() {}

        public init(dictionaryLiteral elements: (String, String?)...) {
            pairs = elements.map { Pair(key: $0.0, value: $0.1) }
        }

        /// A query that is written already, used as it is. Throws if it is none: for a character that must be
        /// percent-encoded, which includes brackets and all beyond ASCII, and for a `%` that begins no encoded octet.
        public init(encoded text: String) throws(HTTP.QueryError) {
            if let (offset, problem) = PercentEncoding.problem(inQuery: text) {
                throw HTTP.QueryError(problem, at: offset, of: text.utf8.count)
            }
            self.init(written: text)
        }

        /// Text that was written by our own rules.
        init(written text: String) {
            if !text.isEmpty { pairs = [Pair(key: text, isEncoded: true)] }
        }

        /// Parameters of any structure, in a style.
        public init(_ parameters: Parameters, style: HTTP.ParameterStyle = HTTP.ParameterStyle()) throws {
            self.init(written: try style.encoded(parameters))
        }

        public var isEmpty: Bool { pairs.isEmpty }

        /// Adds a parameter; without a value the bare key is sent.
        public mutating func append(_ key: String, _ value: String?) {
            pairs.append(Pair(key: key, value: value))
        }

        /// The query as written in a URL: everything but letters, digits and `-._~/?` escaped.
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

    /// The parameters of a request, whatever form its serializer gives them.
    public typealias Parameters = DynamicValue.Members
}
