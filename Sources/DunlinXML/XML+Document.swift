public import Dunlin

extension XML {
    /// A document as a tree.
    public struct Document: Sendable, Hashable {
        public var root: Element

        public init(root: Element) {
            self.root = root
        }

        /// Reads the whole document. `charset` is what was said of its encoding from outside; a byte order mark
        /// outranks it, and it what the document itself declares. Nested deeper than `deepest` it is refused, whatever
        /// the limits say.
        public init(_ bytes: Bytes, charset: String? = nil, limits: Limits = Limits()) throws(Error) {
            var limits = limits
            limits.depth = min(limits.depth, Self.deepest)
            var reader = try Reader(bytes, charset: charset, limits: limits)
            var builder = TreeBuilder()
            while let event = try reader.next() { builder.take(event) }
            // A reader ends only after the root has.
            root = builder.root ?? Element(Name(""))
        }

        /// How deep a tree may be nested that is read. What is done with it takes stack for each level: without
        /// optimisation 250 bytes to release it, 2,300 to compare and 3,100 to describe it, so that it fits twice into
        /// the 8 MiB of a thread of Swift's pool. A tree that a program nests deeper by its own hand is its own affair.
        public static let deepest = 1_024
    }
}
