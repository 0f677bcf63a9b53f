extension XML {
    /// Why a text is not a well-formed document, or not one that is supported, and where.
    public struct Error: Swift.Error, Sendable, Hashable, CustomStringConvertible {
        public enum Problem: String, Sendable, Hashable {
            case endsEarly = "the document ends too early"
            case notWellFormed = "the markup is not well formed"
            case mismatchedTag = "an end tag does not match its start"
            case repeatedAttribute = "an attribute comes twice in one tag"
            case unboundPrefix = "a prefix has no namespace"
            case invalidName = "a name is missing or not valid"
            case invalidCharacter = "a character is not allowed in XML"
            case invalidReference = "a reference is not valid"
            case unknownEntity = "an entity is not declared"
            case externalEntity = "an external entity is used, and none is fetched"
            case parameterEntity = "a parameter entity is used, and none is read"
            case markupInEntity = "an entity holds markup, and may only hold text"
            case unreadableText = "the text is not in the encoding it declares"
            case tooDeep = "elements are nested deeper than `limits.depth` or a tree allows"
            case tooManyAttributes = "a tag has more attributes than `limits.attributes` allows"
            case tooManyMarks = "a name or text has more than 256 combining marks in a row"
            case expandsTooFar = "entities expand to more than `limits.expansion` allows, or are nested too deep"
        }

        public var problem: Problem
        /// The line, counted from 1.
        public var line: Int
        /// The byte in UTF-8 within its line, counted from 1.
        public var column: Int

        public init(_ problem: Problem, line: Int, column: Int) {
            self.problem = problem
            self.line = line
            self.column = column
        }

        public var description: String { "\(problem.rawValue), at line \(line), column \(column)" }
    }

    /// The limits for a document.
    public struct Limits: Sendable, Hashable {
        /// How deep elements may be nested. A tree is limited to `Document.deepest`; events are limited only by this
        /// value, and reading them takes no stack.
        public var depth: Int
        /// The number of attributes and namespace declarations of one tag.
        public var attributes: Int
        /// The total length of expanded entities in bytes, for each use, including references within them.
        public var expansion: Int

        public init(depth: Int = 512, attributes: Int = 1_000, expansion: Int = 1_000_000) {
            self.depth = depth
            self.attributes = attributes
            self.expansion = expansion
        }
    }
}
