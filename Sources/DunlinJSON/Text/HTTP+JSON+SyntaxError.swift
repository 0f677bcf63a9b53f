extension HTTP.JSON {
    /// Why a text is not JSON, and where.
    public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        public enum Problem: String, Sendable, Hashable {
            case unexpectedEnd = "it ends too early"
            case unexpectedText = "unexpected text"
            case trailingText = "something follows the value"
            case controlCharacter = "text holds a control character"
            case invalidUTF8 = "text is not valid UTF-8, or not in the encoding of its byte order mark"
            case loneSurrogate = "text holds half of a surrogate pair"
            case repeatedKey = "an object has a key twice"
            case fragment = "it is neither an object nor an array"
            case tooDeep = "it is nested deeper than `limits.depth` allows"
            case tooMany = "it holds more values and keys than `limits.values` allows"
            case textTooLong = "a text, key or number is longer than `limits.textLength` allows"
            case tooManyMarks = "a text or key has more than 256 combining marks in a row"
            case tooLong = "it is longer than 4 GiB"
        }

        public var problem: Problem
        /// The offset of the error, in bytes.
        public var offset: Int
        /// The line of the error, from 1.
        public var line: Int
        /// The character of the error within its line, from 1.
        public var column: Int
        /// The path of the value with the error, `users[2].name`; empty for the outermost value.
        public var path: String
        /// The text before the error and what was found there, without what looks secret.
        public var excerpt: String

        public init(
            problem: Problem, offset: Int, line: Int = 1, column: Int = 1, path: String = "", excerpt: String = ""
        ) {
            self.problem = problem
            self.offset = offset
            self.line = line
            self.column = column
            self.path = path
            self.excerpt = excerpt
        }

        public var description: String {
            let location = path.isEmpty ? "" : " at \(path)"
            let text = excerpt.isEmpty ? "" : ": \(excerpt)"
            return "invalid JSON\(location), line \(line), column \(column): \(problem.rawValue)\(text)"
        }
    }
}
