/// Header or trailer fields, in order and with duplicates; names are compared without case.
///
/// The text of all fields lives in one byte array and each field is a pair of ranges over it. A parsed head points into
/// what was received; a `String` is made only for the field somebody asks for.
public struct Fields: Sendable {
    /// The position of one field in `bytes`.
    @usableFromInline package struct Entry: Sendable {
        @usableFromInline package var nameStart: UInt32
        @usableFromInline package var valueStart: UInt32
        @usableFromInline package var valueCount: UInt32
        @usableFromInline package var nameCount: UInt16
        /// Whether the caller marked the value as sensitive: it is never logged, and never sent to another origin.
        @usableFromInline package var isSensitive: Bool

        @inlinable package init(name: Range<Int>, value: Range<Int>, isSensitive: Bool = false) {
            nameStart = UInt32(truncatingIfNeeded: name.lowerBound)
            nameCount = UInt16(truncatingIfNeeded: name.count)
            valueStart = UInt32(truncatingIfNeeded: value.lowerBound)
            valueCount = UInt32(truncatingIfNeeded: value.count)
            self.isSensitive = isSensitive
        }

        @inlinable package var name: Range<Int> { Int(nameStart)..<(Int(nameStart) + Int(nameCount)) }
        @inlinable package var value: Range<Int> { Int(valueStart)..<(Int(valueStart) + Int(valueCount)) }
    }

    /// The length of the longest name that fits an entry.
    package static let longestName = Int(UInt16.max)

    @usableFromInline package private(set) var bytes: [UInt8] = []
    @usableFromInline package private(set) var entries: [Entry] = []

    @inlinable public init() {}

    /// Creates fields that a parser found in `bytes`, in which every entry's ranges must lie.
    package init(bytes: [UInt8], entries: [Entry]) {
        self.bytes = bytes
        self.entries = entries
    }

    @inlinable public var count: Int { entries.count }
    @inlinable public var isEmpty: Bool { entries.isEmpty }

    /// Appends a field.
    ///
    /// A name longer than 65,535 bytes is cut to one that no request may carry, so that sending it fails.
    public mutating func append(name: String, value: String, sensitive: Bool = false) {
        let nameStart = bytes.count
        bytes.append(contentsOf: name.utf8.count > Self.longestName ? "\0".utf8 : name.utf8)
        let valueStart = bytes.count
        bytes.append(contentsOf: value.utf8)
        entries.append(
            Entry(name: nameStart..<valueStart, value: valueStart..<bytes.count, isSensitive: sensitive))
    }

    /// Appends a field whose value need not be UTF-8.
    package mutating func append(name: String, rawValue: Bytes) {
        let nameStart = bytes.count
        bytes.append(contentsOf: name.utf8)
        let valueStart = bytes.count
        rawValue.withUnsafeBytes { bytes.append(contentsOf: $0) }
        entries.append(Entry(name: nameStart..<valueStart, value: valueStart..<bytes.count, isSensitive: false))
    }

    public mutating func append(contentsOf other: Fields) {
        for entry in other.entries { append(entry, of: other) }
    }

    private mutating func append(_ entry: Entry, of other: Fields) {
        let nameStart = bytes.count
        let valueStart = nameStart + entry.name.count
        // As one memory, which is copied at once and not byte by byte.
        other.bytes.withUnsafeBufferPointer { other in
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: other[entry.name]))
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: other[entry.value]))
        }
        entries.append(
            Entry(name: nameStart..<valueStart, value: valueStart..<bytes.count, isSensitive: entry.isSensitive))
    }

    /// Removes every field with this name.
    public mutating func remove(_ name: String) {
        if contains(name) { entries.removeAll { Self.matches(bytes, $0.name, name) } }
    }

    /// The fields whose name, in lower case, `keep` accepts. The others do not stay in memory.
    package func filtered(droppingSensitive: Bool = false, _ keep: (String) -> Bool) -> Fields {
        copy(of: entries.filter { !(droppingSensitive && $0.isSensitive) && keep(text($0.name).lowercased()) })
    }

    /// The fields with other names than these. The others do not stay in memory.
    package func without(_ names: [String]) -> Fields {
        // Most fields have names of other lengths, and then none is compared.
        let lengths = names.reduce(into: UInt64(0)) { $0 |= 1 << UInt64($1.utf8.count & 63) }
        return copy(
            of: entries.filter { entry in
                lengths & (1 << UInt64(entry.nameCount & 63)) == 0
                    || !names.contains { Self.matches(bytes, entry.name, $0) }
            })
    }

    /// Whether a name begins with this, in any case.
    package func haveName(beginningWith start: String) -> Bool {
        entries.contains { Self.matches(bytes, $0.name.prefix(start.utf8.count), start) }
    }

    /// The same fields in bytes of their own, without the memory in which they were received.
    package func detached() -> Fields { copy(of: entries) }

    /// Some of the fields, in bytes of their own.
    private func copy(of some: [Entry]) -> Fields {
        var copy = Fields()
        copy.entries.reserveCapacity(some.count)
        copy.bytes.reserveCapacity(some.reduce(0) { $0 + Int($1.nameCount) + Int($1.valueCount) })
        for entry in some { copy.append(entry, of: self) }
        return copy
    }

    /// A copy in which the fields with these names (in lower case) are those of `other`.
    package func taking(_ names: [String], from other: Fields) -> Fields {
        if names.isEmpty { return self }
        var changed = self
        for name in names {
            changed.remove(name)
            for entry in other.entries where Self.matches(other.bytes, entry.name, name) {
                changed.append(entry, of: other)
            }
        }
        return changed
    }

    /// A copy in which each field named in `other` replaces those of the same name.
    public func overlaid(with other: Fields) -> Fields {
        if other.isEmpty { return self }
        var merged = self
        merged.bytes.reserveCapacity(bytes.count + other.bytes.count)
        merged.entries.reserveCapacity(entries.count + other.entries.count)
        for entry in other.entries {
            merged.entries.removeAll { Self.equal(bytes, $0.name, other.bytes, entry.name) }
        }
        merged.append(contentsOf: other)
        return merged
    }

    public func contains(_ name: String) -> Bool { index(of: name) != nil }

    /// Whether one of the fields has the name of one in `other`.
    package func sharesName(with other: Fields) -> Bool {
        entries.contains { own in
            other.entries.contains { Self.equal(bytes, own.name, other.bytes, $0.name) }
        }
    }

    /// The position of the first field with this name from `start` on.
    private func index(of name: String, from start: Int = 0) -> Int? {
        // The name's bytes are looked up once, and most other names differ in length.
        var name = name
        return name.withUTF8 { name in
            entries.withUnsafeBufferPointer { entries in
                for index in start..<entries.count
                where Int(entries[index].nameCount) == name.count && Self.matches(bytes, entries[index].name, name) {
                    return index
                }
                return nil
            }
        }
    }

    /// The positions of the values of all fields with this name.
    private func ranges(of name: String) -> [Range<Int>] {
        guard let first = index(of: name) else { return [] }
        var ranges = [entries[first].value]
        var start = first + 1
        while start < entries.count, let next = index(of: name, from: start) {
            ranges.append(entries[next].value)
            start = next + 1
        }
        return ranges
    }

    /// The value of the first field with this name. Setting a value replaces all fields with the name; `nil` removes
    /// them.
    public subscript(_ name: String) -> String? {
        get {
            index(of: name).map { text(entries[$0].value) }
        }
        set {
            remove(name)
            if let newValue { append(name: name, value: newValue) }
        }
    }

    /// The value of the first field with this name, as received: it need not be UTF-8.
    public subscript(bytes name: String) -> Bytes? {
        index(of: name).map { Bytes(bytes, in: entries[$0].value) }
    }

    /// The values of all fields with this name, in order.
    public func values(of name: String) -> [String] {
        ranges(of: name).map { text($0) }
    }

    /// The values of all fields with this name, in order, as received.
    public func rawValues(of name: String) -> [Bytes] {
        ranges(of: name).map { Bytes(bytes, in: $0) }
    }

    /// The value of a field that may occur once; nil if there is none, or several differ.
    ///
    /// Of two that differ, one may be an attacker's.
    package func soleValue(of name: String) -> Bytes? {
        guard let index = index(of: name) else { return nil }
        let first = Bytes(bytes, in: entries[index].value)
        var start = index + 1
        while start < entries.count, let next = self.index(of: name, from: start) {
            guard Bytes(bytes, in: entries[next].value) == first else { return nil }
            start = next + 1
        }
        return first
    }

    /// Whether all fields have names among these (in lower case), and none is marked as sensitive.
    package func areAll(among names: [String]) -> Bool {
        entries.allSatisfy { entry in
            !entry.isSensitive && names.contains { Self.matches(bytes, entry.name, $0) }
        }
    }

    /// All fields in order, as received, with names as they were written. Neither names nor values need be UTF-8.
    public var raw: [(name: Bytes, value: Bytes)] {
        entries.map { (Bytes(bytes, in: $0.name), Bytes(bytes, in: $0.value)) }
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}

extension Fields {
    /// Whether the bytes in `range` spell `name`, ignoring ASCII case.
    static func matches(_ bytes: [UInt8], _ range: Range<Int>, _ name: String) -> Bool {
        guard name.utf8.count == range.count else { return false }
        var name = name
        return name.withUTF8 { matches(bytes, range, $0) }
    }

    /// The same for a name of the range's length.
    private static func matches(_ bytes: [UInt8], _ range: Range<Int>, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        for offset in 0..<name.count where lowered(bytes[range.lowerBound + offset]) != lowered(name[offset]) {
            return false
        }
        return true
    }

    private static func equal(_ left: [UInt8], _ a: Range<Int>, _ right: [UInt8], _ b: Range<Int>) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).allSatisfy { lowered(left[$0]) == lowered(right[$1]) }
    }

    @inlinable static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 65 < 26 ? byte | 0x20 : byte
    }
}

extension Fields: Sequence {
    public struct Iterator: IteratorProtocol {
        let fields: Fields
        var position = 0

        public mutating func next() -> (name: String, value: String)? {
            guard position < fields.entries.count else { return nil }
            defer { position += 1 }
            let entry = fields.entries[position]
            return (fields.text(entry.name), fields.text(entry.value))
        }
    }

    public func makeIterator() -> Iterator {
        Iterator(fields: self)
    }
}

extension Fields {
    /// Creates fields from a dictionary, sorted by name because a dictionary has no order.
    public init(_ dictionary: [String: String]) {
        self.init()
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { append(name: name, value: value) }
    }
}

extension Fields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { append(name: name, value: value) }
    }
}

extension Fields: Equatable {
    /// Whether both have the same fields in the same order: names without case, values byte for byte.
    public static func == (left: Fields, right: Fields) -> Bool {
        left.count == right.count
            && zip(left.entries, right.entries).allSatisfy { a, b in
                equal(left.bytes, a.name, right.bytes, b.name)
                    && left.bytes[a.value].elementsEqual(right.bytes[b.value])
            }
    }
}

extension Fields {
    /// Whether a field with this name was marked as sensitive.
    package func isSensitive(_ name: String) -> Bool {
        entries.contains { $0.isSensitive && Self.matches(bytes, $0.name, name) }
    }

    /// Whether any field with this name is marked as sensitive, or is secret by its name or by something in its value:
    /// all that is not printed as it is, and a little more.
    package func holdsSecret(_ name: String, _ secret: HTTP.SecretFields) -> Bool {
        if secret.mayContain(name) { return true }
        return entries.contains { entry in
            guard Self.matches(bytes, entry.name, name) else { return false }
            let value = text(entry.value)
            return entry.isSensitive || secret.shown(value, of: name) != value
        }
    }

    /// The fields that may be written to a file: those that hold no secret.
    package func withoutSecrets(_ secret: HTTP.SecretFields = .usual) -> Fields {
        filtered { !holdsSecret($0, secret) }
    }

    /// Marks all fields as sensitive.
    package mutating func markAll() {
        for index in entries.indices { entries[index].isSensitive = true }
    }

    /// Marks the fields whose name `isSecret` accepts as sensitive.
    mutating func mark(_ isSecret: (String) -> Bool) {
        for index in entries.indices where !entries[index].isSensitive && isSecret(text(entries[index].name)) {
            entries[index].isSensitive = true
        }
    }
}

extension Fields: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// One field a line. Values are hidden if they are marked as sensitive or their names are secret or look so;
    /// secrets of URLs, forms, JSON and elements in other values too. Control characters are left out, so the text
    /// cannot affect a terminal and each line is one field.
    public var description: String { shown().map { "\($0.name): \($0.value)" }.joined(separator: "\n") }

    public var debugDescription: String { description }

    public var customMirror: Mirror {
        Mirror(self, children: shown().map { (label: $0.name, value: $0.value) }, displayStyle: .struct)
    }

    /// The fields as the description shows them.
    package func shown(hiding secret: HTTP.SecretFields = .usual) -> [(name: String, value: String)] {
        entries.map { entry in
            let name = text(entry.name)
            let isSecret = entry.isSensitive || secret.hidesField(name)
            let value = isSecret ? "<redacted>" : secret.shown(text(entry.value), of: name)
            return (VisibleText.of(name), VisibleText.of(value, upTo: .max))
        }
    }
}
