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

    /// An element with what is in it; comments and processing instructions are left out.
    public struct Element: Sendable, Hashable {
        public var name: Name
        public var attributes: [Attribute]
        public var children: [Node]

        public init(_ name: Name, attributes: [Attribute] = [], children: [Node] = []) {
            self.name = name
            self.attributes = attributes
            self.children = children
        }
    }

    public enum Node: Sendable, Hashable {
        case element(Element)
        case text(String)
    }
}

extension XML.Element {
    /// Those among the children that are elements.
    public var elements: [XML.Element] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The children of that name, in any namespace.
    public func elements(named local: String) -> [XML.Element] {
        elements.filter { $0.name.local == local }
    }

    /// The first child of that name, in any namespace.
    public subscript(local: String) -> XML.Element? {
        elements.first { $0.name.local == local }
    }

    /// The value of an attribute without a namespace.
    public subscript(attribute local: String) -> String? {
        attributes.first { $0.name.local == local && $0.name.namespace == nil }?.value
    }

    /// All text within, also that of elements within.
    public var text: String {
        var text = ""
        var open = [children[...]]
        while var rest = open.popLast() {
            guard let child = rest.popFirst() else { continue }
            open.append(rest)
            switch child {
            case .text(let piece): text += piece
            case .element(let element): open.append(element.children[...])
            }
        }
        return text
    }
}
