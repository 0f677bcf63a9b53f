internal import DunlinSemantics

extension HTTP {
    /// Why text is not a valid URL query. It says what is wrong without showing the text, which may contain secrets.
    public struct QueryError: Error, Sendable, Hashable {
        public enum Problem: Sendable, Hashable {
            /// A character that must be percent-encoded.
            case forbiddenCharacter(Unicode.Scalar)
            /// A `%` without two hexadecimal digits after it.
            case invalidPercentEncoding
        }

        public let problem: Problem
        /// The offset of the error, in UTF-8.
        public let offset: Int
        /// The length of the whole text.
        public let length: Int

        init(_ problem: PercentEncoding.Problem, at offset: Int, of length: Int) {
            self.problem =
                switch problem {
                case .character(let scalar): .forbiddenCharacter(scalar)
                case .triplet: .invalidPercentEncoding
                }
            self.offset = offset
            self.length = length
        }
    }
}

extension HTTP.QueryError: CustomStringConvertible {
    /// A sentence that gives the character's code, because descriptions end up in logs.
    public var description: String {
        let position = "byte \(offset) of \(length)"
        switch problem {
        case .forbiddenCharacter(let scalar):
            return "\(scalar.codePoint) at \(position) is not allowed in a query; percent-encode it"
        case .invalidPercentEncoding:
            return "a % at \(position) is not followed by two hexadecimal digits; write a literal % as %25"
        }
    }
}
