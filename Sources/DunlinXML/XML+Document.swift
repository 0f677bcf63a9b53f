public import Dunlin

extension XML {
    /// A document as a tree.
    public struct Document: Sendable, Hashable {
        public var root: Element

        public init(root: Element) {
            self.root = root
        }

        /// Reads a whole document. `charset` is the encoding declared from outside; a byte order mark takes precedence
        /// over it, and it takes precedence over the document's own declaration. A document nested deeper than
        /// `deepest` is refused, whatever the limits.
        public init(_ bytes: Bytes, charset: String? = nil, limits: Limits = Limits()) throws(Error) {
            var limits = limits
            limits.depth = min(limits.depth, Self.deepest)
            var reader = try Reader(bytes, charset: charset, limits: limits)
            var builder = TreeBuilder()
            while let event = try reader.next() {
                builder.take(event)
                if builder.hasTooManyMarks { throw reader.error(.tooManyMarks) }
            }
            // A reader ends only after the root.
            root = builder.root ?? Element(Name(""))
        }

        /// How deep a tree may be nested when it is read. Operations on it take stack for each level: without
        /// optimisation, 250 bytes to release it, 2,300 to compare and 3,100 to describe it, so it fits twice into the
        /// 8 MiB of a thread in Swift's pool. A deeper tree that a program builds itself may overflow the stack.
        public static let deepest = 1_024
    }
}
