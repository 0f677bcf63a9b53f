/// Reads the words of a netrc file. It knows blanks, quotes, comments and macros, and no keyword.
struct NetrcReader {
    private var rest: Substring.UTF8View
    private var line = 1

    private static let newline = UInt8(ascii: "\n")

    init(_ text: String) {
        rest = text[...].utf8
    }

    /// The next word where a keyword may stand; nil at the end.
    mutating func keyword() throws(UsageError) -> String? {
        skipBlanks()
        while rest.first == UInt8(ascii: "#") {
            rest = rest.drop { $0 != Self.newline }
            skipBlanks()
        }
        return rest.isEmpty ? nil : try word()
    }

    /// The word that follows a keyword.
    mutating func value(of keyword: String) throws(UsageError) -> String {
        let start = line
        skipBlanks()
        if rest.isEmpty {
            line = start
            throw error("has a \(keyword) without a value")
        }
        return try word()
    }

    /// Skips what is left of the line, and all lines up to an empty one.
    mutating func skipMacro() {
        while true {
            let end = rest.firstIndex(of: Self.newline)
            guard let end else {
                rest = rest[rest.endIndex...]
                return
            }
            rest = rest[rest.index(after: end)...]
            line += 1
            if rest.first == Self.newline || rest.starts(with: "\r\n".utf8) { return }
        }
    }

    func error(_ problem: String) -> UsageError { UsageError(description: "line \(line) \(problem)") }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private mutating func skipBlanks() {
        while let byte = rest.first, Self.isBlank(byte) {
            if byte == Self.newline { line += 1 }
            rest.removeFirst()
        }
    }

    private mutating func word() throws(UsageError) -> String {
        if rest.first == UInt8(ascii: "\"") { return try quoted() }
        let word = rest.prefix { !Self.isBlank($0) }
        rest = rest[word.endIndex...]
        return String(Substring(word))
    }

    private mutating func quoted() throws(UsageError) -> String {
        rest.removeFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != Self.newline {
            if byte == UInt8(ascii: "\"") {
                guard rest.first.map(Self.isBlank) ?? true else { throw error("has more behind a closing quote") }
                return String(decoding: bytes, as: UTF8.self)
            }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let next = rest.popFirst(), next != Self.newline else { break }
            bytes.append(Self.escapes[next] ?? next)
        }
        throw error("has a quote that does not end")
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]
}
