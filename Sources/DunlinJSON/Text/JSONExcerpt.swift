/// The part of an invalid text that its error shows: where it is wrong and what was found there, on one line.
///
/// Only the member or element being read is shown, from its name up to the error. A value is not shown if its name, or
/// that of a value around it, looks secret; nor is a value that was read before.
struct JSONExcerpt {
    private let text: Bytes
    private let entries: [JSONIndex.Entry]
    private let innermost: Int?
    private let secret: HTTP.SecretFields

    private static let longest = 40

    /// Creates an excerpt of a text that was read as far as the scanner came.
    init(of text: Bytes, _ scanner: JSONScanner, hiding secret: HTTP.SecretFields) {
        self.text = text
        self.secret = secret
        entries = scanner.entries
        innermost = scanner.innermost
    }

    func syntaxError(_ fault: JSONScanner.Fault) -> HTTP.JSON.SyntaxError {
        let offset = fault.offset - text.offset
        let (line, column) = JSONPositions(text)[offset]
        let next = startOfNext(before: offset)
        let current = fault.key ?? (next == nil ? lastEntry : nil)
        var path = innermost.map { steps(to: $0) } ?? []
        if let innermost, entries[innermost].kind == .array {
            path.append(.element(Int(entries[innermost].count)))
        } else if let current {
            path.append(.member(name(of: entries[current])))
        }
        let shown: String
        if path.contains(where: { JSONPath.isSecret($0, secret) }) {
            shown = "…"
        } else if let key = fault.key {
            shown = self.shown(offset..<end(of: entries[key]))
        } else if let next {
            shown = excerpt(from: next, upTo: offset)
        } else if let current, isShown(current) {
            shown = excerpt(from: start(of: entries[current]), upTo: offset)
        } else if entries.isEmpty, offset < text.count, text[offset] == UInt8(ascii: "<") {
            shown = self.shown(offset..<offset + 20)
        } else {
            shown = self.shown(offset..<offset + 1)
        }
        return HTTP.JSON.SyntaxError(
            problem: fault.problem, offset: offset, line: line, column: column, path: JSONPath.text(path),
            excerpt: shown)
    }

    /// The steps to an open array or object.
    private func steps(to container: Int) -> [JSONPath.Step] {
        var steps: [JSONPath.Step] = []
        var index = container
        while true {
            let around = Int(entries[index].extent)
            guard around < index else { break }
            if entries[around].kind == .array {
                steps.append(.element(Int(entries[around].count)))
            } else {
                steps.append(.member(name(of: entries[index - 1])))
            }
            index = around
        }
        return steps.reversed()
    }

    /// The start of the key or element that was being read or is missing, after the last comma or opening bracket; nil
    /// within a member's value and after a complete value.
    private func startOfNext(before offset: Int) -> Int? {
        guard let innermost, let last = entries.last else { return nil }
        var isNext = innermost == entries.count - 1
        var position = end(of: last)
        // Text that has no entry was found to be valid by the scanner.
        loop: while position < offset {
            switch text[position] {
            case UInt8(ascii: ","): isNext = true
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: "]"), UInt8(ascii: "}"): break
            default: break loop
            }
            position += 1
        }
        return isNext ? position : nil
    }

    /// The key of the last member of the open object, or the last element of the open array.
    private var lastEntry: Int? {
        guard let innermost else { return nil }
        let isArray = entries[innermost].kind == .array
        var entry = innermost + 1
        var current: Int?
        while entry < entries.count {
            current = entry
            let value = isArray ? entry : entry + 1
            guard value < entries.count else { break }
            let isContainer = entries[value].kind == .array || entries[value].isObject
            // The extent of an open container leads to the one around it.
            entry = isContainer ? max(Int(entries[value].extent), value + 1) : value + 1
        }
        return current
    }

    private func name(of key: JSONIndex.Entry) -> String {
        JSONIndex(text: text.storage, start: text.offset, entries: []).string(key)
    }

    /// The offset of the first byte; of a text, that of its opening quote.
    private func start(of entry: JSONIndex.Entry) -> Int {
        Int(entry.offset) - text.offset - (entry.isText ? 1 : 0)
    }

    /// The offset after a scalar, or after the bracket that opens an array or object.
    private func end(of entry: JSONIndex.Entry) -> Int {
        let isContainer = entry.kind == .array || entry.isObject
        let length = isContainer ? 1 : Int(entry.extent) + (entry.isText ? 1 : 0)
        return Int(entry.offset) + length - text.offset
    }

    private func excerpt(from first: Int, upTo offset: Int) -> String {
        let start = max(min(first, offset), offset - Self.longest)
        return (start > first ? "…" : "") + shown(start..<offset + 1)
    }

    /// Whether an entry is shown. Complete arrays and objects are not, since they may contain secrets.
    private func isShown(_ entry: Int) -> Bool {
        entries[entry...].prefix(2).allSatisfy { $0.kind != .array && !$0.isObject }
    }

    private func shown(_ range: Range<Int>) -> String {
        // Neither end may be within a character.
        var range = range.clamped(to: 0..<text.count)
        while let first = range.first, text[first] & 0xC0 == 0x80 { range = first + 1..<range.upperBound }
        while range.upperBound < text.count, text[range.upperBound] & 0xC0 == 0x80 {
            range = range.lowerBound..<range.upperBound + 1
        }
        return VisibleText.of(String(text[range]), upTo: Self.longest + 1)
    }
}
