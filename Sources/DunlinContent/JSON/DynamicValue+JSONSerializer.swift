extension DynamicValue {
    /// The body as JSON whose structure is not known beforehand.
    ///
    /// JSON is read strictly (RFC 8259): no extra comma, no key twice in one object. Numbers keep the digits they were
    /// written with, and objects the order of their members. Throws `DynamicValue.JSONSyntaxError` for a text that is
    /// no JSON. An empty body, or a single space, is null.
    public struct JSONSerializer: AdjustableSerializer, Hashable, Codable {
        public var rules: HTTP.ResponseRules
        /// Whether a text is accepted that is neither an object nor an array.
        public var allowsFragments: Bool
        /// Whether members and elements that are null are left out, at every level.
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
            let value = try response.body.strictJSON()
            switch value {
            case .array, .object: break
            default:
                guard allowsFragments else { throw DynamicValue.JSONSyntaxError(problem: .fragment, offset: 0) }
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

extension Bytes {
    /// The body as JSON in any form of Unicode, by the letter of RFC 8259 and without a key that comes twice.
    func strictJSON() throws -> DynamicValue {
        let value = try DynamicValue(json: jsonInUTF8())
        if value.repeatedKey != nil { throw DynamicValue.JSONSyntaxError(problem: .repeatedKey, offset: 0) }
        return value
    }

    /// JSON in UTF-16 or UTF-32 shows it by its mark, or by the zeros among its first bytes (RFC 4627 §3).
    private func jsonInUTF8() throws(DynamicValue.JSONSyntaxError) -> Bytes {
        guard count >= 2, let charset = markedCharset ?? charsetByZeros else { return self }
        guard let text = charset.text(self) else {
            throw DynamicValue.JSONSyntaxError(problem: .invalidUTF8, offset: 0)
        }
        return Bytes(text)
    }

    private var charsetByZeros: Charset? {
        let isZero = (0..<4).map { $0 < count && self[$0] == 0 }
        if isZero[0], isZero[1] { return Charset("utf-32be") }
        if isZero[1], isZero[2] { return Charset("utf-32le") }
        if isZero[0] { return Charset("utf-16be") }
        return isZero[1] ? Charset("utf-16le") : nil
    }
}
