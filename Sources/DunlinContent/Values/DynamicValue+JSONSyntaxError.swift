extension DynamicValue {
    /// Why a text is no JSON, and where.
    public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        public enum Problem: String, Sendable, Hashable {
            case unexpectedEnd = "it ends too early"
            case unexpectedText = "what stands there is no JSON"
            case trailingText = "something follows the value"
            case controlCharacter = "text holds a control character"
            case invalidUTF8 = "text is not UTF-8, or what it begins as"
            case loneSurrogate = "text holds half of a surrogate pair"
            case repeatedKey = "an object has a key twice"
            case fragment = "it is neither an object nor an array"
            case tooDeep = "it is nested too deep"
        }

        public var problem: Problem
        /// The offset of the fault, in bytes.
        public var offset: Int

        public var description: String { "no JSON at byte \(offset): \(problem.rawValue)" }
    }
}

extension DynamicValue {
    /// The value that a text of JSON (RFC 8259) in UTF-8 says, read strictly.
    public init(json text: Bytes) throws(DynamicValue.JSONSyntaxError) {
        self = try JSONReader.read(text)
    }
}
