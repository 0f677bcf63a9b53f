/// A value that is being encoded: a tree of what has been encoded so far, with scalars as text already.
///
/// `Encodable` types may fill their containers in any order, keep them, and name a member twice, so nothing is final
/// before the end. Then the tree is written in one pass, where the last of members with the same name counts, or made a
/// dynamic value, which keeps them all.
///
/// What cannot become JSON (two values in one place, or nesting too deep) is noted, kept out of the tree, and reported
/// at the end.
struct JSONOutline {
    enum Problem {
        case contradiction, tooDeep, tooLong
    }

    enum Kind: UInt8 {
        /// Nothing has been encoded yet; or encoding failed, and it counts as never added.
        case empty, removed
        case scalar, array, object
        /// A value that is kept as it is, by its number.
        case kept
        /// An object whose names are unique.
        case dictionary
    }

    /// One value, in 36 bytes because there are many: no text is longer than 4 GiB.
    struct Node {
        var kind = Kind.empty
        /// The number of arrays and objects around the value.
        var depth: UInt16 = 0
        /// The text of a member's name with its quotes, or of a scalar.
        var name = Run()
        var text = Run()
        var count: UInt32 = 0
        var first: UInt32 = 0
        var last: UInt32 = 0
        /// The next node in the same array or object; 0 for none, since the root is in neither.
        var next: UInt32 = 0
    }

    struct Run {
        var start: UInt32 = 0
        var end: UInt32 = 0

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    private(set) var nodes = [Node()]
    private(set) var text: [UInt8] = []
    private let format: DynamicValue.JSONFormat
    private let depth: Int
    private(set) var problem: Problem?
    private(set) var kept: [DynamicValue] = []
    /// The arrays and objects whose order says nothing, and how many elements of an array belong together.
    private(set) var strides: [Int: Int] = [:]
    /// Members by name, for objects that were asked for nested containers; empty for most values.
    private var names: [Int: Names] = [:]

    private struct Names {
        /// The last member with each name.
        var last: [ArraySlice<UInt8>: Int] = [:]
        /// For each member, the earlier one with the same name.
        var earlier: [Int: Int] = [:]

        mutating func append(_ child: Int, _ name: ArraySlice<UInt8>) {
            earlier[child] = last.updateValue(child, forKey: name)
        }

        /// Removes a member, which must be the last with its name.
        mutating func remove(_ child: Int, _ name: ArraySlice<UInt8>) {
            last[name] = earlier.removeValue(forKey: child)
        }
    }

    static let root = 0

    init(_ format: DynamicValue.JSONFormat, depth: Int) {
        self.format = format
        self.depth = min(depth, Int(UInt16.max))
        nodes.reserveCapacity(32)
        text.reserveCapacity(256)
    }

    func isEmpty(_ node: Int) -> Bool { nodes[node].kind == .empty }
    func count(of node: Int) -> Int { Int(nodes[node].count) }
    func depth(of node: Int) -> Int { Int(nodes[node].depth) }

    /// The length of what follows a name.
    private var colonLength: Int { format.isIndented ? 2 : 1 }
}

// MARK: - Arrays and objects

extension JSONOutline {
    mutating func makeArray(_ node: Int) {
        if nodes[node].kind != .array { make(node, .array) }
    }

    mutating func makeObject(_ node: Int, hasUniqueNames: Bool = false) {
        if isObject(node) {
            // What is added to a dictionary may repeat a name.
            nodes[node].kind = .object
        } else {
            make(node, hasUniqueNames ? .dictionary : .object)
        }
    }

    /// Makes a node that was never filled an object without members.
    mutating func fill(_ node: Int) {
        if isEmpty(node) { makeObject(node) }
    }

    /// Adds an element to an array. Returns its node.
    mutating func append(to node: Int) -> Int {
        if nodes[node].kind != .array { noteUnlessGone(node) }
        return add(Node(), to: node, isPart: nodes[node].kind == .array)
    }

    /// Adds a member to an object. Returns its node.
    mutating func append(_ name: String, to node: Int) -> Int {
        if !isObject(node) { noteUnlessGone(node) }
        let run = write { JSONWriter.append(name, to: &$0, escapesSlashes: $1.escapesSlashes) }
        _ = write { JSONWriter.appendColon(to: &$0, isIndented: $1.isIndented) }
        let child = add(Node(name: run), to: node, isPart: isObject(node))
        if names[node] != nil { names[node]?.append(child, ArraySlice(Array(text[run.range]))) }
        return child
    }

    /// The array or object that is the member with this name; nil if there is none. Types may ask for a container
    /// twice.
    mutating func container(_ name: String, in node: Int, isArray: Bool) -> Int? {
        if names[node] == nil { names[node] = namesOfMembers(of: node) }
        var bytes: [UInt8] = []
        JSONWriter.append(name, to: &bytes, escapesSlashes: format.escapesSlashes)
        // Failed members are skipped, once.
        while let child = names[node]?.last[bytes[...]], nodes[child].kind == .removed {
            names[node]?.remove(child, bytes[...])
        }
        guard let child = names[node]?.last[bytes[...]] else { return nil }
        return (isArray ? nodes[child].kind == .array : isObject(child)) ? child : nil
    }

    /// Removes a value that failed, as if it had never been added.
    mutating func remove(_ child: Int, from node: Int) {
        nodes[child].kind = .removed
        if nodes[node].count > 0 { nodes[node].count -= 1 }
    }

    /// Empties a value that failed; another may be put in its place.
    mutating func empty(_ node: Int) {
        nodes[node].kind = .empty
        nodes[node].first = 0
        nodes[node].last = 0
        nodes[node].count = 0
        names[node] = nil
        strides[node] = nil
    }

    /// Says that the order of an array or object is another one in every process.
    mutating func note(stride: Int, of node: Int) { strides[node] = stride }

    private func isObject(_ node: Int) -> Bool { nodes[node].kind == .object || nodes[node].kind == .dictionary }

    private mutating func make(_ node: Int, _ kind: Kind) {
        if nodes[node].kind != .empty { return noteUnlessGone(node) }
        if nodes[node].depth >= depth { return note(.tooDeep) }
        nodes[node].kind = kind
    }

    /// Notes two values in one place, unless a failed value surrounds them. What a retained container of a failed value
    /// gets is ignored.
    private mutating func noteUnlessGone(_ node: Int) {
        if nodes[node].kind != .removed, nodes[node].kind != .empty { note(.contradiction) }
    }

    private mutating func note(_ problem: Problem) {
        if self.problem == nil { self.problem = problem }
    }

    private mutating func add(_ child: Node, to node: Int, isPart: Bool) -> Int {
        let index = nodes.count
        nodes.append(child)
        nodes[index].depth = max(nodes[node].depth, nodes[node].depth &+ 1)
        nodes[node].count += 1
        guard isPart, let child = UInt32(exactly: index) else { return index }
        let last = Int(nodes[node].last)
        if last == 0 { nodes[node].first = child } else { nodes[last].next = child }
        nodes[node].last = child
        return index
    }

    private func namesOfMembers(of node: Int) -> Names {
        var names = Names()
        var child = Int(nodes[node].first)
        while child != 0 {
            // A copy: a slice would retain the text and make later writing copy it.
            if nodes[child].kind != .removed { names.append(child, ArraySlice(Array(text[nodes[child].name.range]))) }
            child = Int(nodes[child].next)
        }
        return names
    }
}

// MARK: - Scalars

extension JSONOutline {
    mutating func put(_ value: String, at node: Int) {
        put(node) { JSONWriter.append(value, to: &$0, escapesSlashes: $1.escapesSlashes) }
    }

    mutating func put(_ value: some FixedWidthInteger, at node: Int) {
        put(node) { text, _ in JSONWriter.append(value, to: &text) }
    }

    mutating func put(_ value: some BinaryFloatingPoint & CustomStringConvertible, at node: Int) {
        put(node) { text, _ in JSONWriter.append(value, to: &text) }
    }

    /// Writes text that is JSON already.
    mutating func put(literal: StaticString, at node: Int) {
        put(node) { text, _ in literal.withUTF8Buffer { text.append(contentsOf: $0) } }
    }

    mutating func put(text literal: Bytes, at node: Int) {
        put(node) { text, _ in literal.withUnsafeBytes { text.append(contentsOf: $0) } }
    }

    mutating func put(_ values: [String], at node: Int) {
        makeArray(node)
        for value in values { put(value, at: append(to: node)) }
    }

    mutating func put(_ values: [Int], at node: Int) {
        makeArray(node)
        for value in values { put(value, at: append(to: node)) }
    }

    mutating func put(kept value: DynamicValue, at node: Int) {
        if nodes[node].kind != .empty { return noteUnlessGone(node) }
        nodes[node].kind = .kept
        nodes[node].first = UInt32(kept.count)
        kept.append(value)
    }

    private mutating func put(_ node: Int, _ append: (inout [UInt8], DynamicValue.JSONFormat) -> Void) {
        if nodes[node].kind != .empty { return noteUnlessGone(node) }
        nodes[node].kind = .scalar
        nodes[node].text = write(append)
    }

    private mutating func write(_ append: (inout [UInt8], DynamicValue.JSONFormat) -> Void) -> Run {
        let start = text.count
        append(&text, format)
        guard let end = UInt32(exactly: text.count) else {
            note(.tooLong)
            text.removeSubrange(start...)
            return Run()
        }
        return Run(start: UInt32(start), end: end)
    }
}

// MARK: - Writing

extension JSONOutline {
    /// The whole value as JSON.
    func written() -> [UInt8] {
        var writer = JSONWriter(format)
        writer.reserve(text.count + nodes.count * 2 + 2)
        write(Self.root, to: &writer)
        return writer.bytes
    }

    private func write(_ index: Int, to writer: inout JSONWriter) {
        let node = nodes[index]
        let name = node.name.range
        let value = node.text.range
        if !name.isEmpty {
            let end = name.upperBound + colonLength
            if node.kind == .scalar, value.lowerBound == end {
                // Most scalars directly follow their names.
                return writer.literal(text.span.extracting(name.lowerBound..<value.upperBound))
            }
            writer.literal(text.span.extracting(name.lowerBound..<end))
        }
        switch node.kind {
        case .scalar: writer.literal(text.span.extracting(value))
        case .array:
            writer.openArray()
            writeChildren(Int(node.first), to: &writer)
            writer.closeArray()
        case .empty, .removed, .kept, .object, .dictionary:
            writer.openObject()
            if format.order == .sorted || node.kind == .object && mayRepeat(node) {
                for child in orderedMembers(of: node) {
                    writer.beginNext()
                    write(child, to: &writer)
                }
            } else {
                writeChildren(Int(node.first), to: &writer)
            }
            writer.closeObject()
        }
    }

    private func writeChildren(_ first: Int, to writer: inout JSONWriter) {
        var child = first
        while child != 0 {
            if nodes[child].kind != .removed {
                writer.beginNext()
                write(child, to: &writer)
            }
            child = Int(nodes[child].next)
        }
    }

    /// Whether two names may have the same hash. A name is always written the same way, so equal names have equal text.
    private func mayRepeat(_ node: Node) -> Bool {
        if node.count < 2 { return false }
        if node.count > 16 { return true }
        var hashes = InlineArray<16, UInt32>(repeating: 0)
        var seen = 0
        var child = Int(node.first)
        while child != 0 {
            if nodes[child].kind != .removed {
                if seen == 16 { return true }
                let hash = JSONKeyHash.of(text.span, nodes[child].name.range)
                for index in 0..<seen where hashes[index] == hash { return true }
                hashes[seen] = hash
                seen += 1
            }
            child = Int(nodes[child].next)
        }
        return false
    }

    /// The last member with each name, in their order or sorted.
    private func orderedMembers(of node: Node) -> [Int] {
        var indices: [ArraySlice<UInt8>: Int] = [:]
        indices.reserveCapacity(Int(node.count))
        var members: [Int] = []
        members.reserveCapacity(Int(node.count))
        var child = Int(node.first)
        while child != 0 {
            defer { child = Int(nodes[child].next) }
            if nodes[child].kind == .removed { continue }
            if let index = indices[text[nodes[child].name.range]] {
                members[index] = child
            } else {
                indices[text[nodes[child].name.range]] = members.count
                members.append(child)
            }
        }
        guard format.order == .sorted else { return members }
        return members.map { (name: name(of: $0), child: $0) }.sorted { $0.name.precedesInUTF16($1.name) }.map(\.child)
    }

    func name(of child: Int) -> String { string(in: nodes[child].name.range) }

    /// The text that is written here in quotes.
    func string(in range: Range<Int>) -> String {
        let bytes = text.span.extracting((range.lowerBound + 1)..<(range.upperBound - 1))
        return String(unsafeUninitializedCapacity: bytes.count) { JSONEscapes.resolve(bytes, into: $0) }
    }
}
