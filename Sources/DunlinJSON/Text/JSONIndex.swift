/// A text of JSON and the position of each of its values: the scanner's result, and all that reading needs.
///
/// Entries are in the order of the text, including keys: an object is followed by a key, its value, the next key.
/// Nothing is copied from the text before it is needed. The text is well-formed, so reading does not check the grammar.
struct JSONIndex: Sendable {
    struct Entry: Sendable {
        enum Kind: UInt8, Sendable {
            case null, yes, no
            /// A number with digits only; one with a point or an exponent.
            case integer, fraction
            /// A text or key, whose bytes are between the quotes; one that contains escapes.
            case text, escapedText
            case array
            /// An object; one with a duplicate key.
            case object, repeatingObject
        }

        var kind: Kind
        /// The offset of the first byte; of a text, that after its quote.
        var offset: UInt32
        /// The length of a scalar in bytes; for an array or object, the index of the entry after its last.
        var extent: UInt32
        /// The number of elements or members; for a text, the hash of its bytes.
        var count: UInt32 = 0

        var isObject: Bool { kind == .object || kind == .repeatingObject }
        var isText: Bool { kind == .text || kind == .escapedText }
        var isNumber: Bool { kind == .integer || kind == .fraction }
    }

    let text: [UInt8]
    /// Where the text begins within the bytes: it may be part of a longer text.
    let start: Int
    let entries: [Entry]

    /// The index of the first entry after the value at `position`.
    func end(of position: Int) -> Int {
        let entry = entries[position]
        switch entry.kind {
        case .array, .object, .repeatingObject: return Int(entry.extent)
        default: return position + 1
        }
    }

    /// The range of a scalar's bytes.
    func range(of entry: Entry) -> Range<Int> {
        Int(entry.offset)..<Int(entry.offset) + Int(entry.extent)
    }

    /// A number as it was written.
    func literal(_ entry: Entry) -> String {
        String(copying: UTF8Span(unchecked: text.span.extracting(range(of: entry)), isKnownASCII: true))
    }
}

// MARK: - Text

extension JSONIndex {
    func string(_ entry: Entry) -> String {
        let bytes = text.span.extracting(range(of: entry))
        // The scanner has checked that it is UTF-8.
        if entry.kind == .text { return String(copying: UTF8Span(unchecked: bytes)) }
        return String(unsafeUninitializedCapacity: bytes.count) { JSONEscapes.resolve(bytes, into: $0) }
    }

    /// A text, or the part of it that is written in the first `limit` bytes: showing a long text must not cost its
    /// whole length.
    func beginning(of entry: Entry, _ limit: Int) -> String {
        var part = entry
        let range = range(of: entry)
        if range.count > limit {
            part.extent = UInt32(JSONEscapes.end(of: text.span.extracting(range), atMost: limit))
        }
        return string(part)
    }

    /// Whether the key at `position` equals `key`, byte for byte.
    func isKey(_ position: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entries[position]
        if entry.kind == .escapedText { return string(entry).utf8.elementsEqual(key) }
        guard Int(entry.extent) == key.count else { return false }
        return JSONPlainText.isEqual(text.span, Int(entry.offset), UnsafeRawBufferPointer(key))
    }

    /// Finds a key of the object between `first` and `end`, beginning at `start` and wrapping around. Gives up after
    /// `limit` other keys.
    func key(_ name: UnsafeBufferPointer<UInt8>, from start: Int, _ first: Int, _ end: Int, limit: Int) -> KeySearch {
        var key = start
        for _ in 0..<limit {
            if isKey(key, name) { return .found(key) }
            key = self.end(of: key + 1)
            if key >= end { key = first }
            if key == start { return .missing }
        }
        return .tooMany
    }

    enum KeySearch {
        case found(Int), missing, tooMany
    }
}
