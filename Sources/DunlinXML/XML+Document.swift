public import Dunlin

extension XML {
    /// A document as a tree.
    public struct Document: Sendable, Hashable {
        public var root: Element

        public init(root: Element) {
            self.root = root
        }

        /// Reads the whole document. `charset` is what was said of its encoding from outside; a byte order mark
        /// outranks it, and it what the document itself declares.
        public init(_ bytes: Bytes, charset: String? = nil, limits: Limits = Limits()) throws(Error) {
            var reader = try Reader(bytes, charset: charset, limits: limits)
            var open: [Element] = []
            var root: Element?
            while let event = try reader.next() {
                switch event {
                case .start(let name, let attributes): open.append(Element(name, attributes: attributes))
                case .end:
                    let element = open.removeLast()
                    if open.isEmpty { root = element } else { open[open.count - 1].children.append(.element(element)) }
                case .text(let text): open[open.count - 1].append(text)
                case .comment, .instruction: break
                }
            }
            // A reader ends only after the root has.
            self.root = root ?? Element(Name(""))
        }
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
        children.map { child in
            switch child {
            case .text(let text): text
            case .element(let element): element.text
            }
        }.joined()
    }

    fileprivate mutating func append(_ text: String) {
        if case .text(let before)? = children.last {
            children[children.count - 1] = .text(before + text)
        } else {
            children.append(.text(text))
        }
    }
}
