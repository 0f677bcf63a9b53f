/// A text of JSON and where each of its values lies: what the scanner leaves behind, and all that reading needs.
///
/// Entries stand in the order of the text, keys among them: an object is followed by a key, its value, the next key.
/// Nothing is copied out of the text before it is asked for. The text is well-formed, so reading checks no grammar.
struct JSONIndex: Sendable {
    struct Entry: Sendable {
        enum Kind: UInt8, Sendable {
            case null, yes, no
            /// A number of digits only, and one with a point or an exponent.
            case integer, fraction
            /// A text, or a key; its bytes lie between the quotes. The second has escapes in it.
            case text, escapedText
            case array
            /// The second has a key that comes twice.
            case object, repeatingObject
        }

        var kind: Kind
        /// The first byte; of a text the one after its quote.
        var offset: UInt32
        /// The bytes of a scalar; of an array or object the entry after its last.
        var extent: UInt32
        /// The elements of an array or members of an object; of a text the hash of its bytes.
        var count: UInt32 = 0

        var isObject: Bool { kind == .object || kind == .repeatingObject }
        var isText: Bool { kind == .text || kind == .escapedText }
        var isNumber: Bool { kind == .integer || kind == .fraction }
    }

    let text: [UInt8]
    /// Where the text begins, which may be a part of a longer one.
    let start: Int
    let entries: [Entry]

    /// The first entry that is not within the value at `place`.
    func end(of place: Int) -> Int {
        let entry = entries[place]
        switch entry.kind {
        case .array, .object, .repeatingObject: return Int(entry.extent)
        default: return place + 1
        }
    }

    /// The range of a scalar's bytes.
    func range(of entry: Entry) -> Range<Int> {
        Int(entry.offset)..<Int(entry.offset) + Int(entry.extent)
    }

    /// A number as it is written.
    func literal(_ entry: Entry) -> String {
        String(copying: UTF8Span(unchecked: text.span.extracting(range(of: entry)), isKnownASCII: true))
    }
}

// MARK: - Text

extension JSONIndex {
    func string(_ entry: Entry) -> String {
        let bytes = text.span.extracting(range(of: entry))
        // The scanner has seen that it is UTF-8.
        if entry.kind == .text { return String(copying: UTF8Span(unchecked: bytes)) }
        return String(unsafeUninitializedCapacity: bytes.count) { JSONEscapes.resolve(bytes, into: $0) }
    }

    /// A text, or as much of its beginning as is written in so many bytes: for what is shown, which must not cost what
    /// a long text costs.
    func beginning(of entry: Entry, _ limit: Int) -> String {
        var part = entry
        let range = range(of: entry)
        if range.count > limit {
            part.extent = UInt32(JSONEscapes.end(of: text.span.extracting(range), atMost: limit))
        }
        return string(part)
    }

    /// Whether the key at `place` is this one, byte by byte.
    func isKey(_ place: Int, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        let entry = entries[place]
        if entry.kind == .escapedText { return string(entry).utf8.elementsEqual(key) }
        guard Int(entry.extent) == key.count else { return false }
        return JSONPlainText.isEqual(text.span, Int(entry.offset), UnsafeRawBufferPointer(key))
    }

    /// The key of the object between `first` and `end` that is this one, looked for from `start` on and around; nil
    /// after so many that are not.
    func key(_ name: UnsafeBufferPointer<UInt8>, from start: Int, _ first: Int, _ end: Int, patience: Int) -> KeySearch
    {
        var key = start
        for _ in 0..<patience {
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
