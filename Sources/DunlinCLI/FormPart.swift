import Dunlin
import DunlinCommandLine

/// One part of a multipart form, as `-F` gives it.
struct FormPart: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case text(String)
        case file(path: String, name: String?, type: String?)
        /// The content of a file or of standard input, as a field.
        case contents(RequestOptions.DataSource)
    }

    let name: String
    let content: Content

    init(_ name: String, _ content: Content) {
        (self.name, self.content) = (name, content)
    }

    /// Parses `name=value`, `name=@file;type=text/plain;filename=a.txt` or `name=<file`.
    init(_ text: String) throws(UsageError) {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
            throw UsageError(description: "-F needs NAME=VALUE or NAME=@FILE, not \"\(text)\"")
        }
        name = String(text[..<equals])
        let value = text[text.index(after: equals)...]
        switch value.first {
        case "@": content = try Self.file(value.dropFirst())
        case "<": content = .contents(value == "<-" ? .input : .file(String(value.dropFirst())))
        default: content = .text(String(value))
        }
    }

    private static func file(_ text: Substring) throws(UsageError) -> Content {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        var (name, type): (String?, String?)
        for part in parts.dropFirst() {
            if part.hasPrefix("type=") {
                type = String(part.dropFirst(5))
            } else if part.hasPrefix("filename=") {
                name = String(part.dropFirst(9))
            } else {
                throw UsageError(description: "after a file -F takes ;type= and ;filename=, not \";\(part)\"")
            }
        }
        guard let path = parts.first, !path.isEmpty, path != "-" else {
            throw UsageError(description: "-F needs a file after @; standard input is =<-")
        }
        return .file(path: String(path), name: name, type: type)
    }

    var isInput: Bool { content == .contents(.input) }

    func part() throws -> MultipartPart {
        switch content {
        case .text(let text): return .field(name, text)
        case .contents(let source): return .data(name, Bytes(try source.read()), contentType: nil)
        case .file(let path, let fileName, let type):
            return .file(name, at: path, fileName: fileName, contentType: type.map { HTTP.ContentType($0) })
        }
    }
}
