/// Which namespaces the prefixes stand for, from element to element (Namespaces in XML 1.0).
struct NamespaceScope {
    private struct Binding {
        let prefix: String
        /// Empty for none.
        let namespace: String
        let depth: Int
    }

    private static let xml = "http://www.w3.org/XML/1998/namespace"
    private static let xmlns = "http://www.w3.org/2000/xmlns/"

    /// Outermost first; the empty prefix is the default namespace.
    private var bindings: [Binding] = []

    /// False for what no document may declare: another meaning for `xml` and `xmlns`, or their names for others, and a
    /// prefix for nothing.
    mutating func declare(_ prefix: String, _ namespace: String, at depth: Int) -> Bool {
        if prefix == "xml" { return namespace == Self.xml }
        guard prefix != "xmlns", namespace != Self.xml, namespace != Self.xmlns else { return false }
        guard !namespace.isEmpty || prefix.isEmpty else { return false }
        bindings.append(Binding(prefix: prefix, namespace: namespace, depth: depth))
        return true
    }

    /// Forgets what was declared deeper.
    mutating func leave(_ depth: Int) {
        while let last = bindings.last, last.depth >= depth { bindings.removeLast() }
    }

    /// Nil for a prefix that was not declared; empty for no namespace.
    func namespace(of prefix: String) -> String? {
        if prefix == "xml" { return Self.xml }
        if let binding = bindings.last(where: { $0.prefix == prefix }) { return binding.namespace }
        return prefix.isEmpty ? "" : nil
    }
}
