import DunlinCommandLine

/// The name of a session, which is one segment of a path, and safe as such.
struct SessionName: Equatable, Sendable, CustomStringConvertible {
    let description: String

    /// In characters.
    private static let longest = 64
    /// In bytes: a name of a file has at most 255, an ending included.
    private static let longestBytes = 200

    init(_ text: String) throws(UsageError) {
        if let problem = Self.problem(of: text) {
            throw UsageError(description: "a session's name \(problem)")
        }
        description = text
    }

    private static func problem(of text: String) -> String? {
        if text.isEmpty { return "is at least one character; the one given is empty" }
        if text.utf8.contains(UInt8(ascii: "/")) {
            return "is one word, which has no slash: it names no path, as \"\(text.prefix(longest))\" does"
        }
        if text.utf8.first == UInt8(ascii: ".") { return "begins with no dot, as \"\(text.prefix(longest))\" does" }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\u{FFFD}" }) {
            return "has no control characters, and is UTF-8"
        }
        if text.count > longest { return "has at most \(longest) characters; the one given has \(text.count)" }
        if text.utf8.count > longestBytes {
            return "has at most \(longestBytes) bytes; the one given has \(text.utf8.count)"
        }
        return nil
    }
}
