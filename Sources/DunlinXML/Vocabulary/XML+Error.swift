extension XML {
    /// Where a text stops being a well-formed document, or one that is read here.
    public struct Error: Swift.Error, Sendable, Hashable, CustomStringConvertible {
        public enum Problem: String, Sendable, Hashable {
            case endsEarly = "the document ends too early"
            case notWellFormed = "this is not well formed"
            case mismatchedTag = "an end tag does not match its start"
            case repeatedAttribute = "an attribute comes twice in one tag"
            case unboundPrefix = "a prefix has no namespace"
            case invalidName = "a name is missing or not valid"
            case invalidCharacter = "a character is not allowed in XML"
            case invalidReference = "a reference is not valid"
            case unknownEntity = "an entity is not declared"
            case externalEntity = "an external entity is not fetched"
            case parameterEntity = "a parameter entity is not read"
            case markupInEntity = "an entity holds markup"
            case unreadableText = "the text is not in the encoding it declares"
            case tooDeep = "elements are nested too deep"
            case tooManyAttributes = "a tag has too many attributes"
            case expandsTooFar = "entities expand too far"
        }

        public var problem: Problem
        /// Counted from 1.
        public var line: Int
        /// Bytes in UTF-8 before the place in its line, counted from 1.
        public var column: Int

        public init(_ problem: Problem, line: Int, column: Int) {
            self.problem = problem
            self.line = line
            self.column = column
        }

        public var description: String { "\(problem.rawValue), at line \(line), column \(column)" }
    }

    /// How far a document may go.
    public struct Limits: Sendable, Hashable {
        /// Elements within each other. A tree goes to `Document.deepest` at most; events go as far as is said here, and
        /// reading them takes no stack for it.
        public var depth: Int
        /// Attributes and namespace declarations of one tag.
        public var attributes: Int
        /// Bytes of the texts that entities stand for, with each use, references within them included.
        public var expansion: Int

        public init(depth: Int = 512, attributes: Int = 1_000, expansion: Int = 1_000_000) {
            self.depth = depth
            self.attributes = attributes
            self.expansion = expansion
        }
    }
}
