extension XML {
    /// An element with its contents, without comments and processing instructions.
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
    /// The children that are elements.
    public var elements: [XML.Element] {
        children.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// Returns the children with this name, in any namespace.
    public func elements(named local: String) -> [XML.Element] {
        elements.filter { $0.name.local == local }
    }

    /// The first child with this name, in any namespace.
    public subscript(local: String) -> XML.Element? {
        elements.first { $0.name.local == local }
    }

    /// The value of an attribute without a namespace.
    public subscript(attribute local: String) -> String? {
        attributes.first { $0.name.local == local && $0.name.namespace == nil }?.value
    }

    /// All text within the element, including that of elements within it.
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
