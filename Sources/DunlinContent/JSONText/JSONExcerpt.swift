/// What the error of a text that is no JSON shows of it: where it is wrong and what stands there, on one line.
///
/// Shown is nothing but the member or element that was being read, from its name up to the fault. A value whose name
/// looks as if it were secret, or that lies within such a one, is not shown; nor is a value that was read before.
struct JSONExcerpt {
    private let text: Bytes
    private let entries: [JSONIndex.Entry]
    private let innermost: Int?

    private static let longest = 40

    /// Of a text that was read as far as the scanner came.
    init(of text: Bytes, _ scanner: JSONScanner) {
        self.text = text
        entries = scanner.entries
        innermost = scanner.innermost
    }

    func syntaxError(_ fault: JSONScanner.Fault) -> HTTP.JSON.SyntaxError {
        let offset = fault.offset - text.offset
        let (line, column) = JSONPositions(text)[offset]
        let current = fault.key ?? currentEntry(before: offset)
        var path = innermost.map { steps(to: $0) } ?? []
        if let innermost, entries[innermost].kind == .array {
            path.append(.element(Int(entries[innermost].count)))
        } else if let current {
            path.append(.member(name(of: entries[current])))
        }
        let isSecret = path.contains { JSONPath.isSecret($0) }
        return HTTP.JSON.SyntaxError(
            problem: fault.problem, offset: offset, line: line, column: column, path: JSONPath.text(path),
            excerpt: excerpt(
                from: fault.key == nil ? current : nil, upTo: fault.key.map(end) ?? offset, isSecret, offset))
    }

    /// The steps to an array or object that is open.
    private func steps(to container: Int) -> [JSONPath.Step] {
        var steps: [JSONPath.Step] = []
        var place = container
        while true {
            let around = Int(entries[place].extent)
            guard around < place else { break }
            if entries[around].kind == .array {
                steps.append(.element(Int(entries[around].count)))
            } else {
                steps.append(.member(name(of: entries[place - 1])))
            }
            place = around
        }
        return steps.reversed()
    }

    /// The key of the member that was being read, or the element; nil between two.
    private func currentEntry(before offset: Int) -> Int? {
        guard let innermost else { return nil }
        let isBetween = lastSign(before: offset).map {
            [UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "[")].contains($0)
        }
        if isBetween != false { return nil }
        let isArray = entries[innermost].kind == .array
        var entry = innermost + 1
        var current: Int?
        while entry < entries.count {
            current = entry
            let value = isArray ? entry : entry + 1
            guard value < entries.count else { break }
            let isContainer = entries[value].kind == .array || entries[value].isObject
            // The extent of one that is open leads back.
            entry = isContainer ? max(Int(entries[value].extent), value + 1) : value + 1
        }
        return current
    }

    /// The last byte before that is no blank.
    private func lastSign(before offset: Int) -> UInt8? {
        text[0..<min(offset, text.count)].last { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }

    private func name(of key: JSONIndex.Entry) -> String {
        JSONIndex(text: text.storage, start: text.offset, entries: []).string(key)
    }

    /// The last byte of a key, its quote.
    private func end(of key: Int) -> Int {
        Int(entries[key].offset) + Int(entries[key].extent) - text.offset
    }

    private func excerpt(from entry: Int?, upTo end: Int, _ isSecret: Bool, _ offset: Int) -> String {
        if isSecret { return "…" }
        if entries.isEmpty, offset < text.count, text[offset] == UInt8(ascii: "<") {
            return shown(offset..<offset + 20)
        }
        guard let entry, isShown(entry) else { return shown(offset..<end + 1) }
        let first = Int(entries[entry].offset) - text.offset - (entries[entry].isText ? 1 : 0)
        let start = max(min(first, offset), offset - Self.longest)
        return (start > first ? "…" : "") + shown(start..<offset + 1)
    }

    /// Arrays and objects that were read are not: there may be secrets in them.
    private func isShown(_ entry: Int) -> Bool {
        entries[entry...].prefix(2).allSatisfy { $0.kind != .array && !$0.isObject }
    }

    private func shown(_ range: Range<Int>) -> String {
        // Neither end may cut a character in two.
        var range = range.clamped(to: 0..<text.count)
        while let first = range.first, text[first] & 0xC0 == 0x80 { range = first + 1..<range.upperBound }
        while range.upperBound < text.count, text[range.upperBound] & 0xC0 == 0x80 {
            range = range.lowerBound..<range.upperBound + 1
        }
        return VisibleText.of(String(text[range]), upTo: Self.longest + 1)
    }
}
