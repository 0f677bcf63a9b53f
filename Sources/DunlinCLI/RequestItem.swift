import Dunlin
import DunlinCommandLine

/// A word after the URL that is part of the request, as HTTPie has them.
///
/// The first separator in the word says what it is: `name=text` and `name:=json` are members of a JSON object,
/// `name==text` is a parameter of the URL's query, `Name:value` is a field, and `name@file` is a file of a multipart
/// form. A member becomes a field of the form if there is a file.
enum RequestItem: Equatable, Sendable {
    case member(String, DynamicValue)
    case parameter(String, String)
    case field(String, String)
    case file(String, path: String)

    /// Parses a word; nil for one that is no item.
    init?(_ word: String) throws(UsageError) {
        // Bytes, because a mark that combines with a separator does not make it another character here.
        let bytes = word.utf8
        guard let index = bytes.firstIndex(where: { "=:@".utf8.contains($0) }), index > bytes.startIndex else {
            return nil
        }
        let (name, rest) = (String(word[..<index]), bytes[index...])
        func text(after separator: String) -> String {
            String(decoding: rest.dropFirst(separator.utf8.count), as: UTF8.self)
        }
        // The scheme of a second URL.
        if rest.starts(with: "://".utf8) { return nil }
        if rest.starts(with: ":=".utf8) {
            self = .member(name, try Self.json(text(after: ":="), word))
        } else if rest.starts(with: "==".utf8) {
            self = .parameter(name, text(after: "=="))
        } else if rest.starts(with: "=".utf8) {
            self = .member(name, .string(text(after: "=")))
        } else if rest.starts(with: "@".utf8) {
            if rest.count == 1 { throw UsageError(description: "\"\(word)\" names no file after the @") }
            self = .file(name, path: text(after: "@"))
        } else {
            self = .field(name, text(after: ":"))
        }
    }

    private static func json(_ text: String, _ word: String) throws(UsageError) -> DynamicValue {
        do { return try DynamicValue(json: Bytes(text)) } catch {
            throw UsageError(description: "\"\(word)\" has no JSON after :=; use = for text")
        }
    }
}

extension RequestOptions {
    /// Adds the items to what the options say.
    mutating func add(_ items: [RequestItem]) throws(UsageError) {
        let hasFile = items.contains { if case .file = $0 { true } else { false } }
        var members: [DynamicValue.Members.Member] = []
        for item in items {
            switch item {
            case .field(let name, let value): try append("\(name):\(value)")
            case .parameter(let name, let value):
                parameters.append("\(Self.encoded(name.utf8))=\(Self.encoded(value.utf8))")
            case .file(let name, let path): form.append(FormPart(name, .file(path: path, name: nil, type: nil)))
            case .member(let name, .string(let text)) where hasFile: form.append(FormPart(name, .text(text)))
            case .member(let name, _) where hasFile:
                throw UsageError(description: "\(name):= is JSON, which a form with files does not take")
            case .member(let name, let value): members.append(.init(key: name, value: value))
            }
        }
        if members.isEmpty { return }
        if isJSON { throw UsageError(description: "--json and NAME=VALUE both give a body; use one") }
        do {
            let bytes = try DynamicValue.object(.init(members)).json()
            data.append(.text(String(decoding: bytes.array, as: UTF8.self)))
        } catch {
            throw UsageError(description: "\(error)")
        }
        if data.count > 1 { throw UsageError(description: "-d and NAME=VALUE both give a body; use one") }
        isJSON = true
    }
}
