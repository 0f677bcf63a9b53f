extension JSONRefusal {
    /// The error that `Decodable` types expect, with the same kinds and paths as from Foundation's decoder. Its text
    /// says where in the document the value is and what was found; a value that looks secret is not shown.
    func error(
        _ document: JSONDocument, _ position: Int, _ path: [any CodingKey], _ missing: (any CodingKey)? = nil,
        isSecret: Bool
    ) -> DecodingError {
        func context(_ text: String) -> DecodingError.Context {
            DecodingError.Context(codingPath: path, debugDescription: text + document.location(of: position, path))
        }
        switch self {
        case .missing:
            let key = missing ?? JSONKey.base
            return .keyNotFound(
                key, context("the member \"\(key.stringValue)\" is missing; \(document.names(of: position))"))
        case .element(let index): return .dataCorrupted(context("element \(index) does not have its array's type"))
        case .null(let type): return .valueNotFound(type, context("expected \(Self.name(type)), found null"))
        case .atEnd(let type):
            return .valueNotFound(type, context("expected \(Self.name(type)), found the end of the array"))
        case .mismatch(let type):
            return .typeMismatch(
                type, context("expected \(Self.name(type)), found \(document.content(of: position, isSecret))"))
        case .corrupted(let problem):
            return .dataCorrupted(context("\(problem): \(document.content(of: position, isSecret))"))
        }
    }

    private static func name(_ type: Any.Type) -> String {
        if type == [String: Any].self { return "an object" }
        return type == [Any].self ? "an array" : "\(type)"
    }
}

extension JSONDocument {
    private static let longest = 40

    /// A value's kind and, for a scalar, its text.
    fileprivate func content(of position: Int, _ isSecret: Bool) -> String {
        let entry = entry(position)
        switch entry.kind {
        case .null: return "null"
        case .yes: return isSecret ? "a Bool" : "true"
        case .no: return isSecret ? "a Bool" : "false"
        case .integer, .fraction: return isSecret ? "a number" : "the number \(shown(entry))"
        case .text, .escapedText: return isSecret ? "a text" : "the text \"\(shown(entry))\""
        case .array: return "an array"
        case .object, .repeatingObject: return "an object"
        }
    }

    fileprivate func names(of position: Int) -> String {
        let entry = entry(position)
        guard entry.isObject else { return "found no object" }
        if entry.count == 0 { return "the object is empty" }
        var names: [String] = []
        var key = position + 1
        while names.count < min(8, Int(entry.count)) {
            names.append("\"\(shown(index.entries[key]))\"")
            key = index.end(of: key + 1)
        }
        return "found " + names.joined(separator: ", ") + (names.count < Int(entry.count) ? " and others" : "")
    }

    fileprivate func location(of position: Int, _ path: [any CodingKey]) -> String {
        guard position >= 0 else { return "" }
        let offset = Int(entry(position).offset) - index.start - (entry(position).isText ? 1 : 0)
        let (line, column) = positions[offset]
        let name = JSONPath.text(path)
        return " (\(name.isEmpty ? "" : "at \(name), ")line \(line), column \(column))"
    }

    /// The text of a scalar.
    private func shown(_ entry: JSONIndex.Entry) -> String {
        // A character takes at most twelve bytes, as two escapes.
        let text = index.beginning(of: entry, 12 * (Self.longest + 1))
        let visible = VisibleText.of(text, upTo: Self.longest + 1)
        return visible.count > Self.longest ? visible.prefix(Self.longest) + "…" : visible
    }
}
