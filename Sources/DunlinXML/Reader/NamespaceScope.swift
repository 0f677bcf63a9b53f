internal import DunlinTypes

/// The namespaces of prefixes within nested elements (Namespaces in XML 1.0).
///
/// A look-up takes constant time, and namespaces are compared by number: a name of a million bytes is read only when it
/// is declared, not for each attribute that uses it.
struct NamespaceScope {
    /// A namespace's number. Equal numbers mean equal namespaces; 0 is none.
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

    /// The namespaces of each prefix, innermost last. The empty prefix is the default namespace.
    private var meanings: [String: [Namespace]] = [:]
    /// The bindings, in order of declaration.
    private var bindings: [Binding] = []
    private var numbers: [ExactText: Int] = [:]
    /// The number of bindings examined.
    private(set) var steps = 0

    /// Declares a prefix. Returns false for an invalid declaration: another meaning for `xml` or `xmlns`, their
    /// namespaces under other prefixes, or a prefix for an empty namespace.
    mutating func declare(_ prefix: String, _ namespace: String, at depth: Int) -> Bool {
        if prefix == "xml" { return namespace.hasSameBytes(as: Namespace.xml.name) }
        let isReserved = [Namespace.xml.name, Self.xmlns].contains { namespace.hasSameBytes(as: $0) }
        guard prefix != "xmlns", !isReserved else { return false }
        guard !namespace.isEmpty || prefix.isEmpty else { return false }
        steps += 1
        bindings.append(Binding(prefix: prefix, depth: depth))
        meanings[prefix, default: []].append(numbered(namespace))
        return true
    }

    /// Forgets declarations at greater depths.
    mutating func leave(_ depth: Int) {
        while let last = bindings.last, last.depth >= depth {
            steps += 1
            bindings.removeLast()
            meanings[last.prefix]?.removeLast()
        }
    }

    /// The namespace of a prefix; nil if it was not declared.
    mutating func namespace(of prefix: String) -> Namespace? {
        steps += 1
        if prefix == "xml" { return .xml }
        return meanings[prefix]?.last ?? (prefix.isEmpty ? Namespace.none : nil)
    }

    private mutating func numbered(_ namespace: String) -> Namespace {
        if namespace.isEmpty { return .none }
        let number = numbers[ExactText(namespace)] ?? numbers.count + 2
        numbers[ExactText(namespace)] = number
        return Namespace(number: number, name: namespace)
    }
}
