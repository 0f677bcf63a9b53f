internal import Dunlin

extension XML.Reader {
    /// Reads what begins with `<`; nil if it is not an event.
    mutating func markup() throws(XML.Error) -> XML.Event? {
        if isAt("</") { return try endTag() }
        if isAt("<?") { return try instruction() }
        if skip("<!--") { return .comment(try comment()) }
        if skip("<![CDATA[") { return try characterData() }
        if isAt("<!DOCTYPE") {
            try documentType()
            return nil
        }
        return try startTag()
    }

    private mutating func startTag() throws(XML.Error) -> XML.Event {
        if case .afterRoot = stage { throw error(.notWellFormed) }
        guard open.count < limits.depth else { throw error(.tooDeep) }
        position += 1
        let written = try writtenName()
        let (attributes, isEmpty) = try attributes()
        open.append((XML.Name(""), written.text))
        let declared = try declareNamespaces(attributes)
        let name = Self.name(written, in: try namespace(of: written, isElement: true))
        open[open.count - 1].name = name
        stage = .inRoot
        if isEmpty { closing = name }
        return .start(name, attributes: try resolved(attributes, without: declared))
    }

    private mutating func endTag() throws(XML.Error) -> XML.Event {
        position += 2
        let start = position
        let written = try writtenName()
        skipSpace()
        try expect(">")
        guard let last = open.last, last.written == written.text else {
            position = start
            throw error(open.isEmpty ? .notWellFormed : .mismatchedTag)
        }
        return leave(last.name)
    }

    mutating func comment() throws(XML.Error) -> String {
        let text = try text(before: "--")
        try expect(">")
        return Self.lines(text)
    }

    /// Reads a processing instruction; nil for the declaration at the document's very beginning.
    mutating func instruction() throws(XML.Error) -> XML.Event? {
        let isFirst = position == 0
        position += 2
        let target = try plainName()
        let hasSpace = skipSpace()
        let data = try text(before: "?>")
        guard data.isEmpty || hasSpace else { throw error(.notWellFormed) }
        guard target.lowercased() == "xml" else { return .instruction(target: target, data: Self.lines(data)) }
        guard isFirst, target == "xml", data.starts(with: "version".utf8) else { throw error(.notWellFormed) }
        return nil
    }

    private mutating func characterData() throws(XML.Error) -> XML.Event? {
        guard case .inRoot = stage else { throw error(.notWellFormed) }
        let text = try text(before: "]]>")
        try checkMarks(in: text)
        return text.isEmpty ? nil : .text(Self.lines(text))
    }

    /// The text with all kinds of line ends normalized (XML 1.0 §2.11).
    static func lines(_ text: ArraySlice<UInt8>) -> String {
        guard text.contains(UInt8(ascii: "\r")) else { return String(decoding: text, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count)
        for (index, byte) in zip(text.indices, text) {
            if byte == UInt8(ascii: "\n"), index > text.startIndex, text[index - 1] == UInt8(ascii: "\r") { continue }
            plain.append(byte == UInt8(ascii: "\r") ? UInt8(ascii: "\n") : byte)
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

// MARK: - Names and attributes

extension XML.Reader {
    /// A name as it is written, and its parts.
    struct WrittenName {
        var prefix: String
        var local: String

        var text: String { prefix.isEmpty ? local : prefix + ":" + local }
        /// The declared prefix, empty for the default namespace; nil if the name declares none.
        var declares: String? { prefix == "xmlns" ? local : prefix.isEmpty && local == "xmlns" ? "" : nil }
    }

    private mutating func writtenName() throws(XML.Error) -> WrittenName {
        let first = try plainName()
        guard skip(":") else { return WrittenName(prefix: "", local: first) }
        return WrittenName(prefix: first, local: try plainName())
    }

    private mutating func attributes() throws(XML.Error) -> ([(name: WrittenName, value: String)], isEmpty: Bool) {
        var attributes: [(name: WrittenName, value: String)] = []
        while true {
            let hasSpace = skipSpace()
            if skip(">") { return (attributes, false) }
            if skip("/>") { return (attributes, true) }
            guard position < bytes.count else { throw error(.endsEarly) }
            guard hasSpace else { throw error(.notWellFormed) }
            guard attributes.count < limits.attributes else { throw error(.tooManyAttributes) }
            let name = try writtenName()
            skipSpace()
            try expect("=")
            skipSpace()
            attributes.append((name, try attributeValue()))
        }
    }

    private mutating func declareNamespaces(
        _ attributes: [(name: WrittenName, value: String)]
    ) throws(XML.Error) -> Bool {
        var isAny = false
        var prefixes: Set<String> = []
        for (name, value) in attributes {
            guard let prefix = name.declares else { continue }
            isAny = true
            guard prefixes.insert(prefix).inserted else { throw error(.repeatedAttribute) }
            guard scope.declare(prefix, value, at: open.count) else { throw error(.unboundPrefix) }
        }
        return isAny
    }

    /// The namespace of a name. An attribute without a prefix has none; an element has the default one.
    private mutating func namespace(
        of written: WrittenName, isElement: Bool
    ) throws(XML.Error) -> NamespaceScope.Namespace {
        if written.prefix.isEmpty, !isElement { return .none }
        guard let namespace = scope.namespace(of: written.prefix) else { throw error(.unboundPrefix) }
        return namespace
    }

    private static func name(_ written: WrittenName, in namespace: NamespaceScope.Namespace) -> XML.Name {
        XML.Name(
            written.local, namespace: namespace == .none ? nil : namespace.name,
            prefix: written.prefix.isEmpty ? nil : written.prefix)
    }

    private mutating func resolved(
        _ attributes: [(name: WrittenName, value: String)], without declared: Bool
    ) throws(XML.Error) -> [XML.Attribute] {
        var names: Set<ResolvedName> = []
        var result: [XML.Attribute] = []
        for (written, value) in attributes where !declared || written.declares == nil {
            let namespace = try namespace(of: written, isElement: false)
            let name = ResolvedName(namespace: namespace, local: written.local)
            guard names.insert(name).inserted else { throw error(.repeatedAttribute) }
            result.append(XML.Attribute(Self.name(written, in: namespace), value))
        }
        return result
    }

    /// A resolved name, which two attributes of a tag must not share.
    private struct ResolvedName: Hashable {
        let namespace: NamespaceScope.Namespace
        let local: String
    }
}
