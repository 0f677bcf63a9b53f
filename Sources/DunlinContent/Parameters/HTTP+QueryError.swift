internal import DunlinSemantics

extension HTTP {
    /// Why a text is no query of a URL. It does not show the text, which may hold secrets, and says only what is wrong.
    public struct QueryError: Error, Sendable, Hashable {
        public enum Problem: Sendable, Hashable {
            /// A character that must be percent-encoded.
            case forbiddenCharacter(Unicode.Scalar)
            /// A `%` without two hexadecimal digits after it.
            case invalidPercentEncoding
        }

        public let problem: Problem
        /// The offset of the fault, in UTF-8.
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
    /// One sentence. The character is named by its number: descriptions end in logs.
    public var description: String {
        let place = "byte \(offset) of \(length)"
        switch problem {
        case .forbiddenCharacter(let scalar):
            return "\(scalar.codePoint) at \(place) is not allowed in a query; percent-encode it"
        case .invalidPercentEncoding:
            return "a % at \(place) is not followed by two hexadecimal digits; write a literal % as %25"
        }
    }
}
