import DunlinCommandLine

/// Reads what follows the equals sign of `-F`, by curl's rules: a word, and attributes behind semicolons.
///
/// A word in double quotes may have semicolons, and a backslash before a quote or another backslash. Quotes that do not
/// end before a semicolon are characters like others.
struct FormText {
    struct Attributes: Equatable {
        var type: String?
        var fileName: String?
    }

    private var rest: Substring.UnicodeScalarView

    init(_ text: Substring) { rest = text.unicodeScalars }

    mutating func word() -> String {
        if let quoted = quoted() { return quoted }
        let word = rest.prefix { $0 != ";" }
        rest = rest[word.endIndex...]
        return String(word)
    }

    /// A text, which a semicolon ends only if an attribute follows: curl would leave out the end of `a; b`.
    mutating func text() -> String {
        if let quoted = quoted() { return quoted }
        var (text, left) = (rest.prefix(0), rest)
        while let end = left.firstIndex(of: ";") {
            text = rest[..<end]
            left = left[end...].dropFirst()
            if Self.begins(left.drop { $0 == " " }) {
                rest = rest[end...]
                return String(text)
            }
        }
        defer { rest = rest.suffix(0) }
        return String(rest)
    }

    private static func begins(_ text: Substring.UnicodeScalarView) -> Bool {
        ["type=", "filename=", "headers=", "encoder="].contains { Self.has(text, $0) }
    }

    private static func has(_ text: Substring.UnicodeScalarView, _ prefix: String) -> Bool {
        String(text.prefix(prefix.unicodeScalars.count)).lowercased() == prefix
    }

    private mutating func quoted() -> String? {
        guard rest.first == "\"" else { return nil }
        var (text, left) = (String.UnicodeScalarView(), rest.dropFirst())
        while let scalar = left.popFirst() {
            if scalar == "\\", let next = left.first, next == "\\" || next == "\"" {
                left.removeFirst()
                text.append(next)
            } else if scalar == "\"" {
                let after = left.drop { $0 == " " }
                guard after.isEmpty || after.first == ";" else { return nil }
                rest = after
                return String(text)
            } else {
                text.append(scalar)
            }
        }
        return nil
    }

    /// What follows the word. A text has no file's name.
    mutating func attributes(ofFile isFile: Bool = true) throws(UsageError) -> Attributes {
        var attributes = Attributes()
        while rest.popFirst() != nil {
            rest = rest.drop { $0 == " " }
            if takes("type=") {
                attributes.type = word()
            } else if isFile, takes("filename=") {
                attributes.fileName = word()
            } else if let type = attributes.type, rest.prefix(while: { $0 != ";" }).contains("=") {
                // Such as charset=utf-8.
                attributes.type = "\(type);\(word())"
            } else {
                let names = isFile ? ";type= and ;filename=" : ";type="
                throw UsageError(description: "after a \(isFile ? "file" : "text") -F takes only \(names)")
            }
        }
        if let type = attributes.type { try Self.check(type) }
        return attributes
    }

    private mutating func takes(_ name: String) -> Bool {
        guard Self.has(rest, name) else { return false }
        rest = rest.dropFirst(name.unicodeScalars.count)
        return true
    }

    private static func check(_ type: String) throws(UsageError) {
        let parts = type.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
        let isFit = type.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        guard isFit, parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
            throw UsageError(description: "-F needs a type such as text/plain after ;type=")
        }
    }
}

extension Substring {
    /// The text without its first scalars, even if a mark makes them one character with the next.
    func dropFirst(scalars count: Int) -> Substring { Substring(unicodeScalars.dropFirst(count)) }
}
