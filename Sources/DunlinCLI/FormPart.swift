import Dunlin
import DunlinCommandLine
import DunlinTypes

/// One part of a multipart form, as `-F` gives it.
struct FormPart: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case text(String, type: String? = nil)
        /// A file; `-` is standard input.
        case file(path: String, name: String?, type: String?)
        /// The content of a file or of standard input, as a field.
        case contents(RequestOptions.DataSource, type: String? = nil)
    }

    let name: String
    let content: Content

    init(_ name: String, _ content: Content) {
        (self.name, self.content) = (name, content)
    }

    /// Parses `name=value;type=text/plain`, `name=@file;type=text/plain;filename=a.txt` or `name=<file`. No complaint
    /// shows the value.
    init(_ text: String) throws(UsageError) {
        let value: Substring
        (name, value) = try Self.named(text, "-F")
        switch value.unicodeScalars.first {
        case "@":
            var rest = FormText(value.dropFirst(scalars: 1))
            let path = rest.word()
            let attributes = try rest.attributes()
            if path.isEmpty { throw UsageError(description: "-F needs a file after @; @- is standard input") }
            content = .file(path: path, name: attributes.fileName, type: attributes.type)
        case "<":
            var rest = FormText(value.dropFirst(scalars: 1))
            let path = rest.word()
            let attributes = try rest.attributes(ofFile: false)
            if path.isEmpty { throw UsageError(description: "-F needs a file after <; <- is standard input") }
            content = .contents(path == "-" ? .input : .file(path), type: attributes.type)
        default:
            var rest = FormText(value)
            let text = rest.text()
            content = .text(text, type: try rest.attributes(ofFile: false).type)
        }
    }

    /// Parses `name=value`, where nothing in the value means anything.
    init(literal text: String) throws(UsageError) {
        let value: Substring
        (name, value) = try Self.named(text, "--form-string")
        content = .text(String(value))
    }

    private static func named(_ text: String, _ spelling: String) throws(UsageError) -> (String, Substring) {
        // Among the bytes, as a mark may follow the sign.
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals > text.startIndex else {
            let other = spelling == "-F" ? " or NAME=@FILE" : ""
            throw UsageError(description: "\(spelling) needs NAME=VALUE\(other); there is no = after a name")
        }
        return (String(text[..<equals]), text[text.utf8.index(after: equals)...])
    }

    var isInput: Bool {
        switch content {
        case .text: false
        case .file(let path, _, _): path == "-"
        case .contents(let source, _): source == .input
        }
    }

    func part() throws -> MultipartPart {
        switch content {
        case .text(let text, nil): return .field(name, text)
        case .text(let text, let type?): return .data(name, Bytes(text), contentType: HTTP.ContentType(type))
        case .contents(let source, let type):
            return .data(name, Bytes(try source.read()), contentType: type.map { HTTP.ContentType($0) })
        case .file(let path, let fileName, let type):
            let type = type.map { HTTP.ContentType($0) }
            if path != "-", try InputFile.isRegular(path) {
                return .file(name, at: path, fileName: fileName, contentType: type)
            }
            // What is no regular file has no length, and is read.
            let bytes = try path == "-" ? InputFile.standardInput() : InputFile.bytes(of: path)
            let fileName = fileName ?? path.parts(at: UInt8(ascii: "/")).last { !$0.isEmpty }.map(String.init) ?? path
            return .data(
                name, Bytes(bytes), fileName: fileName, contentType: type ?? HTTP.ContentType(fileName: fileName))
        }
    }
}
