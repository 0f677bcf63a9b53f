/// Reads a text of JSON once, strictly (RFC 8259), and records the position of each value.
///
/// Rules:
/// 1. Only blanks may surround the one value. Extra commas and comments are refused.
/// 2. A text must be UTF-8 without control characters, and its escapes must mean characters, so half a surrogate pair
///    is refused.
/// 3. A number must have digits before and after its point, and neither extra leading zeros nor a plus.
/// 4. A text that exceeds a limit of depth, number of values or text length is refused at that point.
/// 5. A duplicate key in an object is refused, or the object is marked, as the policy says.
///
/// It takes time proportional to the length of any text, and no stack for nesting. It knows no types.
struct JSONScanner {
    /// Why the text is not JSON, and at which byte.
    struct Fault: Error {
        var problem: HTTP.JSON.SyntaxError.Problem
        var offset: Int
        /// The key that the fault concerns, if any.
        var key: Int?
    }

    private(set) var entries: [JSONIndex.Entry] = []
    private var position: Int
    private let end: Int
    private let limits: HTTP.JSON.Limits
    private let refusesRepeatedKeys: Bool
    /// The innermost open array or object. Its entry holds the one around it where its end will be recorded.
    private var open = Self.none
    private var depth = 0

    private static let none = UInt32.max

    /// The innermost open array or object, for errors; nil if there is none.
    var innermost: Int? { open == Self.none ? nil : Int(open) }

    /// Creates a scanner for a range of a text.
    init(_ range: Range<Int>, _ limits: HTTP.JSON.Limits, refusesRepeatedKeys: Bool) {
        position = range.lowerBound
        end = range.upperBound
        self.limits = limits
        self.refusesRepeatedKeys = refusesRepeatedKeys
        entries.reserveCapacity(range.count / 10 + 8)
    }

    /// Scans the text; call it only once. After a fault, the entries are those before it.
    mutating func scan(_ text: Span<UInt8>) throws(Fault) {
        // A byte order mark is skipped, as RFC 8259 §8.1 allows.
        if end - position >= 3, text[position] == 0xEF, text[position + 1] == 0xBB, text[position + 2] == 0xBF {
            position += 3
        }
        guard end < UInt32.max else { throw fault(.tooLong) }
        skipBlanks(text)
        repeat {
            while try !isWholeValue(text) {}
        } while try isFollowed(text)
        if position < end { throw fault(.trailingText) }
    }

    /// Reads a scalar, or an empty array or object. Returns false if it opened one instead, whose first value is next.
    private mutating func isWholeValue(_ text: Span<UInt8>) throws(Fault) -> Bool {
        guard position < end else { throw fault(.unexpectedEnd) }
        guard entries.count < limits.values else { throw fault(.tooMany) }
        switch text[position] {
        case UInt8(ascii: "\""): entries.append(try string(text))
        case UInt8(ascii: "{"):
            try enter(.object, text)
            if position == end || text[position] != UInt8(ascii: "}") {
                try key(text)
                return false
            }
            try leave(text)
        case UInt8(ascii: "["):
            try enter(.array, text)
            if position == end || text[position] != UInt8(ascii: "]") { return false }
            try leave(text)
        case UInt8(ascii: "t"): try word("true", .yes, text)
        case UInt8(ascii: "f"): try word("false", .no, text)
        case UInt8(ascii: "n"): try word("null", .null, text)
        default: try number(text)
        }
        return true
    }

    /// Closes what ends after a value. Returns whether another value follows.
    private mutating func isFollowed(_ text: Span<UInt8>) throws(Fault) -> Bool {
        while true {
            skipBlanks(text)
            guard open != Self.none else { return false }
            guard position < end else { throw fault(.unexpectedEnd) }
            let isArray = entries[Int(open)].kind == .array
            switch text[position] {
            case UInt8(ascii: ","):
                entries[Int(open)].count += 1
                position += 1
                skipBlanks(text)
                if !isArray { try key(text) }
                return true
            case UInt8(ascii: "]") where isArray, UInt8(ascii: "}") where !isArray:
                entries[Int(open)].count += 1
                try leave(text)
            default: throw fault(.unexpectedText)
            }
        }
    }
}

// MARK: - Arrays and objects

extension JSONScanner {
    private mutating func enter(_ kind: JSONIndex.Entry.Kind, _ text: Span<UInt8>) throws(Fault) {
        depth += 1
        guard depth <= limits.depth else { throw fault(.tooDeep) }
        entries.append(JSONIndex.Entry(kind: kind, offset: UInt32(position), extent: open))
        open = UInt32(entries.count - 1)
        position += 1
        skipBlanks(text)
    }

    private mutating func leave(_ text: Span<UInt8>) throws(Fault) {
        let closed = Int(open)
        if entries[closed].kind == .object, entries[closed].count > 1, let key = repeatedKey(in: closed, text) {
            if refusesRepeatedKeys {
                throw Fault(problem: .repeatedKey, offset: Int(entries[key].offset) - 1, key: key)
            }
            entries[closed].kind = .repeatingObject
        }
        position += 1
        depth -= 1
        open = entries[closed].extent
        entries[closed].extent = UInt32(entries.count)
    }

    /// Reads a key, with the colon after it and the blanks around that.
    private mutating func key(_ text: Span<UInt8>) throws(Fault) {
        guard position < end, text[position] == UInt8(ascii: "\"") else { throw unexpected() }
        var key = try string(text)
        if key.kind == .text {
            key.count = JSONKeyHash.of(text, Int(key.offset)..<Int(key.offset) + Int(key.extent))
        }
        entries.append(key)
        skipBlanks(text)
        guard position < end, text[position] == UInt8(ascii: ":") else { throw unexpected() }
        position += 1
        skipBlanks(text)
    }
}

// MARK: - Steps

extension JSONScanner {
    @inline(__always)
    private mutating func skipBlanks(_ text: Span<UInt8>) {
        while position < end {
            let byte = text[position]
            guard byte <= 0x20, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
            position += 1
        }
    }

    private mutating func word(_ word: StaticString, _ kind: JSONIndex.Entry.Kind, _ text: Span<UInt8>) throws(Fault) {
        let start = position
        for offset in 0..<word.utf8CodeUnitCount {
            guard position < end, text[position] == word.utf8Start[offset] else { throw unexpected() }
            position += 1
        }
        entries.append(JSONIndex.Entry(kind: kind, offset: UInt32(start), extent: UInt32(position - start)))
    }

    private mutating func number(_ text: Span<UInt8>) throws(Fault) {
        let start = position
        var kind = JSONIndex.Entry.Kind.integer
        if text[position] == UInt8(ascii: "-") { position += 1 }
        let first = position
        try digits(text)
        if text[first] == UInt8(ascii: "0"), position > first + 1 {
            position = first + 1
            throw unexpected()
        }
        if position < end, text[position] == UInt8(ascii: ".") {
            position += 1
            try digits(text)
            kind = .fraction
        }
        if position < end, text[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits(text)
            kind = .fraction
        }
        guard position - start <= limits.textLength else { throw fault(.textTooLong) }
        entries.append(JSONIndex.Entry(kind: kind, offset: UInt32(start), extent: UInt32(position - start)))
    }

    /// Reads digits, at least one.
    private mutating func digits(_ text: Span<UInt8>) throws(Fault) {
        let start = position
        while position < end, text[position] &- 0x30 < 10 { position += 1 }
        if position == start { throw unexpected() }
    }

    private func fault(_ problem: HTTP.JSON.SyntaxError.Problem) -> Fault {
        Fault(problem: problem, offset: position)
    }

    private func unexpected() -> Fault {
        fault(position < end ? .unexpectedText : .unexpectedEnd)
    }
}

// MARK: - Text

extension JSONScanner {
    /// Reads a text from its opening to after its closing quote.
    private mutating func string(_ text: Span<UInt8>) throws(Fault) -> JSONIndex.Entry {
        position += 1
        let start = position
        var kind = JSONIndex.Entry.Kind.text
        // Counted in a text with escapes only: in others a look at a few bytes tells.
        var marks = 0
        while true {
            let plain = position
            position = JSONPlainText.end(text, position, end)
            guard position < end else { throw fault(.unexpectedEnd) }
            if position > plain { marks = 0 }
            let byte = text[position]
            if byte == UInt8(ascii: "\"") { break }
            if byte < 0x20 { throw fault(.controlCharacter) }
            if byte == UInt8(ascii: "\\") {
                kind = .escapedText
                marks = MarkRun.isMark(try escape(text)) ? marks + 1 : 0
            } else {
                let length = JSONPlainText.scalarLength(text, position, end)
                if length == 0 { throw fault(.invalidUTF8) }
                if kind == .escapedText { marks = isMark(text, length) ? marks + 1 : 0 }
                position += length
            }
            guard marks <= MarkRun.longest else { throw fault(.tooManyMarks) }
        }
        guard position - start <= limits.textLength else { throw Fault(problem: .textTooLong, offset: start) }
        let hasTooManyMarks = text.extracting(start..<position).withUnsafeBufferPointer { MarkRun.isTooLong(in: $0) }
        guard !hasTooManyMarks else { throw Fault(problem: .tooManyMarks, offset: start) }
        defer { position += 1 }
        return JSONIndex.Entry(kind: kind, offset: UInt32(start), extent: UInt32(position - start))
    }

    /// Whether the scalar of so many bytes at the position is a mark.
    private func isMark(_ text: Span<UInt8>, _ length: Int) -> Bool {
        var value = UInt32(text[position]) & (0xFF >> UInt32(length + 1))
        for index in position + 1..<position + length { value = value << 6 | UInt32(text[index] & 0x3F) }
        return Unicode.Scalar(value).map(MarkRun.isMark) ?? false
    }

    /// Reads an escape; returns what it stands for.
    private mutating func escape(_ text: Span<UInt8>) throws(Fault) -> Unicode.Scalar {
        position += 1
        guard position < end else { throw fault(.unexpectedEnd) }
        if let meaning = JSONEscapes.meaning(of: text[position]) {
            position += 1
            return Unicode.Scalar(meaning)
        }
        guard text[position] == UInt8(ascii: "u") else { throw unexpected() }
        position += 1
        let unit = try codeUnit(text)
        if JSONEscapes.isLow(unit) { throw fault(.loneSurrogate) }
        guard JSONEscapes.isHigh(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        guard end - position >= 2, text[position] == UInt8(ascii: "\\"), text[position + 1] == UInt8(ascii: "u") else {
            throw fault(.loneSurrogate)
        }
        position += 2
        let low = try codeUnit(text)
        guard JSONEscapes.isLow(low) else { throw fault(.loneSurrogate) }
        return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + (low & 0x3FF)) ?? "\u{FFFD}"
    }

    private mutating func codeUnit(_ text: Span<UInt8>) throws(Fault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < end, let digit = JSONEscapes.digit(text[position]) else { throw unexpected() }
            unit = unit << 4 | digit
            position += 1
        }
        return unit
    }
}

// MARK: - Keys that come twice

extension JSONScanner {
    /// The entry of the first duplicate key; nil if there is none. `object` is about to be closed.
    private func repeatedKey(in object: Int, _ text: Span<UInt8>) -> Int? {
        let count = Int(entries[object].count)
        var isCandidate = false
        if count <= 16 {
            var hashes = InlineArray<16, UInt32>(repeating: 0)
            var seen = 0
            forEachKey(in: object) { key in
                let hash = entries[key].count
                if hash == JSONKeyHash.none { isCandidate = true }
                for index in 0..<seen where hashes[index] == hash { isCandidate = true }
                hashes[seen] = hash
                seen += 1
            }
        } else {
            var hashes: Set<UInt32> = []
            hashes.reserveCapacity(count)
            forEachKey(in: object) { key in
                let hash = entries[key].count
                if hash == JSONKeyHash.none || !hashes.insert(hash).inserted { isCandidate = true }
            }
        }
        return isCandidate ? exactlyRepeatedKey(in: object, text) : nil
    }

    /// Compares the keys themselves, for equal hashes and for keys with escapes.
    private func exactlyRepeatedKey(in object: Int, _ text: Span<UInt8>) -> Int? {
        var keys: Set<[UInt8]> = []
        var repeated: Int?
        forEachKey(in: object) { key in
            let entry = entries[key]
            let bytes = text.extracting(Int(entry.offset)..<Int(entry.offset) + Int(entry.extent))
            let meant = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
                count = JSONEscapes.resolve(bytes, into: buffer)
            }
            if !keys.insert(meant).inserted, repeated == nil { repeated = key }
        }
        return repeated
    }

    private func forEachKey(in object: Int, _ body: (Int) -> Void) {
        var key = object + 1
        while key < entries.count {
            body(key)
            let value = entries[key + 1]
            key = value.kind == .array || value.isObject ? Int(value.extent) : key + 2
        }
    }
}
