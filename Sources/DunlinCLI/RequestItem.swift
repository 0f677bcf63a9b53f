import Dunlin
import DunlinCommandLine

/// A word after the URL that is part of the request, as HTTPie has them.
///
/// The first separator in the word says what it is: `name=text` and `name:=json` are members of a JSON object,
/// `name==text` is a parameter of the URL's query, `Name:value` is a field, and `name@file` is a file of a multipart
/// form. A member becomes a field of the form if there is a file. `Name:` leaves a field out, and `Name;` sends an
/// empty one. A backslash before a separator makes it part of the name.
///
/// No complaint shows what stands behind the separator, which may be a secret.
enum RequestItem: Equatable, Sendable {
    case member(String, DynamicValue)
    case parameter(String, String)
    case field(String, String)
    /// A field without a value, which is sent even so.
    case emptyField(String)
    case file(String, path: String)

    /// Parses a word; nil for one that is no item.
    init?(_ word: String) throws(UsageError) {
        // Bytes, because a mark that combines with a separator does not make it another character here.
        var (name, rest) = ([UInt8](), Array(word.utf8)[...])
        while let byte = rest.first, !"=:@".utf8.contains(byte) {
            rest.removeFirst()
            if byte == UInt8(ascii: "\\"), let next = rest.first, "=:@;".utf8.contains(next) {
                name.append(next)
                rest.removeFirst()
            } else {
                name.append(byte)
            }
        }
        if name.isEmpty { return nil }
        let key = String(decoding: name, as: UTF8.self)
        if rest.isEmpty {
            guard name.count > 1, word.utf8.last == UInt8(ascii: ";"), !key.utf8.contains(0x20) else { return nil }
            self = .emptyField(String(key.dropLast()))
            return
        }
        func text(after separator: String) -> String {
            String(decoding: rest.dropFirst(separator.utf8.count), as: UTF8.self)
        }
        // The scheme of a second URL.
        if rest.starts(with: "://".utf8) { return nil }
        if rest.starts(with: ":=".utf8) {
            self = .member(key, try Self.json(text(after: ":="), of: key))
        } else if rest.starts(with: "==".utf8) {
            self = .parameter(key, text(after: "=="))
        } else if rest.starts(with: "=".utf8) {
            self = .member(key, .string(text(after: "=")))
        } else if rest.starts(with: "@".utf8) {
            if rest.count == 1 { throw UsageError(description: "\"\(word)\" names no file after the @") }
            self = .file(key, path: text(after: "@"))
        } else {
            self = .field(key, text(after: ":"))
        }
    }

    private static func json(_ text: String, of name: String) throws(UsageError) -> DynamicValue {
        do { return try DynamicValue(json: Bytes(text)) } catch {
            throw UsageError(description: "\(name):= has no JSON after it; use = for text")
        }
    }
}

extension RequestOptions {
    /// Adds the items to what the options say.
    mutating func add(_ items: [RequestItem]) throws(UsageError) {
        let hasFile = items.contains { if case .file = $0 { true } else { false } }
        var tree = ItemTree()
        for item in items {
            switch item {
            case .field(let name, let value): try append("\(name):\(value)", as: "NAME:VALUE")
            case .emptyField(let name): try append("\(name);", as: "NAME;")
            case .parameter(let name, let value):
                parameters.append("\(Self.encoded(name.utf8))=\(Self.encoded(value.utf8))")
            case .file(let name, let path): form.append(FormPart(name, .file(path: path, name: nil, type: nil)))
            case .member(let name, .string(let text)) where hasFile: form.append(FormPart(name, .text(text)))
            case .member(let name, _) where hasFile:
                throw UsageError(description: "\(name):= is JSON, which a form with files does not take")
            case .member(let name, let value): try tree.set(value, at: name)
            }
        }
        hasFileItems = hasFile
        guard let object = tree.value else { return }
        if isJSON { throw UsageError(description: "--json and NAME=VALUE both give a body; use one") }
        if !data.isEmpty { throw UsageError(description: "-d and NAME=VALUE both give a body; use one") }
        do {
            data.append(.text(String(decoding: try object.json().array, as: UTF8.self)))
        } catch {
            throw UsageError(description: "the values of the items nest too deeply for JSON")
        }
        (isJSON, hasMemberItems) = (true, true)
    }
}
