/// Which namespaces the prefixes stand for, from element to element (Namespaces in XML 1.0).
///
/// A look-up costs the same however many bindings there are, and two namespaces are compared by number: a name of a
/// million bytes is read when it is declared, and not with each attribute that is in it.
struct NamespaceScope {
    /// Equal numbers are equal namespaces; 0 is none.
    struct Namespace: Hashable {
        let number: Int
        let name: String

        static let none = Namespace(number: 0, name: "")
        static let xml = Namespace(number: 1, name: "http://www.w3.org/XML/1998/namespace")

        static func == (left: Namespace, right: Namespace) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    private struct Binding {
        let prefix: String
        let depth: Int
    }

    private static let xmlns = "http://www.w3.org/2000/xmlns/"

    /// What each prefix stands for, innermost last; the empty prefix is the default namespace.
    private var meanings: [String: [Namespace]] = [:]
    /// In the order of their declaration.
    private var bindings: [Binding] = []
    private var numbers: [String: Int] = [:]
    /// Bindings that were looked at.
    private(set) var steps = 0

    /// False for what no document may declare: another meaning for `xml` and `xmlns`, or their names for others, and a
    /// prefix for nothing.
    mutating func declare(_ prefix: String, _ namespace: String, at depth: Int) -> Bool {
        if prefix == "xml" { return namespace == Namespace.xml.name }
        guard prefix != "xmlns", namespace != Namespace.xml.name, namespace != Self.xmlns else { return false }
        guard !namespace.isEmpty || prefix.isEmpty else { return false }
        steps += 1
        bindings.append(Binding(prefix: prefix, depth: depth))
        meanings[prefix, default: []].append(numbered(namespace))
        return true
    }

    /// Forgets what was declared deeper.
    mutating func leave(_ depth: Int) {
        while let last = bindings.last, last.depth >= depth {
            steps += 1
            bindings.removeLast()
            meanings[last.prefix]?.removeLast()
        }
    }

    /// Nil for a prefix that was not declared.
    mutating func namespace(of prefix: String) -> Namespace? {
        steps += 1
        if prefix == "xml" { return .xml }
        return meanings[prefix]?.last ?? (prefix.isEmpty ? Namespace.none : nil)
    }

    private mutating func numbered(_ namespace: String) -> Namespace {
        if namespace.isEmpty { return .none }
        let number = numbers[namespace] ?? numbers.count + 2
        numbers[namespace] = number
        return Namespace(number: number, name: namespace)
    }
}
