extension DynamicValue {
    /// A serializer for JSON whose structure is not known beforehand.
    ///
    /// JSON is read strictly (RFC 8259): no extra commas, and no duplicate keys in an object. Numbers keep their digits
    /// and objects their order. Throws `HTTP.JSON.SyntaxError` for text that is not JSON. An empty body, or a single
    /// space, is null.
    public struct JSONSerializer: AdjustableSerializer, Hashable, Codable {
        public var rules: HTTP.ResponseRules
        /// Whether a text other than an object or array is accepted.
        public var allowsFragments: Bool
        /// Whether null members and elements are left out, at every level.
        public var removesNulls: Bool

        public init(
            allowsFragments: Bool = false, removesNulls: Bool = false, rules: HTTP.ResponseRules = .json
        ) {
            self.allowsFragments = allowsFragments
            self.removesNulls = removesNulls
            self.rules = rules
        }

        public var accept: String? { "application/json" }

        public func serialize(_ response: HTTP.WholeResponse) throws -> DynamicValue {
            if response.body.isNoJSON { return .null }
            let value = try DynamicValue(strictJSON: response.body)
            switch value {
            case .array, .object: break
            default:
                guard allowsFragments else { throw HTTP.JSON.SyntaxError(problem: .fragment, offset: 0) }
            }
            return removesNulls ? value.withoutNulls() : value
        }
    }
}

extension ResponseSerializer where Self == DynamicValue.JSONSerializer {
    public static var json: DynamicValue.JSONSerializer { DynamicValue.JSONSerializer() }

    public static func json(allowsFragments: Bool = false, removesNulls: Bool = false) -> DynamicValue.JSONSerializer {
        DynamicValue.JSONSerializer(allowsFragments: allowsFragments, removesNulls: removesNulls)
    }
}
