/// The logins of hosts in a file such as `~/.netrc`.
///
/// Rules:
/// 1. The file is words between blanks and line ends: `machine HOST`, then in any order `login NAME` (or `user NAME`),
///    `password WORD` and `account WORD`, which is skipped. These keywords may be in capitals.
/// 2. A word in double quotes may have blanks; `\` there takes the next character as it is, but for `\n`, `\r` and
///    `\t`. It ends in its line.
/// 3. `#` where a keyword may stand begins a comment, to the end of the line. A value may begin with it.
/// 4. `macdef NAME` and the lines behind it, up to an empty one, are skipped.
/// 5. Of several entries for a host, the first counts; for a user, the first whose login is that name. Hosts are
///    compared whole, and without regard to case, names as they are.
/// 6. `default` is read and never used: it would give one password to every host that a URL or a link may name.
///
/// An error names a line and never its content, which may be part of a password.
package struct NetrcFile: Equatable, Sendable {
    package struct Login: Equatable, Sendable {
        package var name: String?
        package var password: String?
    }

    private struct Entry: Equatable {
        let host: String
        var login = Login()
    }

    private var entries: [Entry] = []
    /// Whether there is an entry `default`.
    package private(set) var hasDefault = false

    /// The greatest length of a file, in bytes.
    package static let longest = 1024 * 1024

    package init(_ bytes: [UInt8]) throws(UsageError) {
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw UsageError(description: "it is not UTF-8 text")
        }
        var reader = NetrcReader(text)
        /// Whether the words belong to an entry.
        var isInside = false
        while let keyword = try reader.keyword() {
            let word = Self.lowercased(keyword.utf8[...])
            switch word {
            case "machine":
                entries.append(Entry(host: Self.host(try reader.value(of: word))))
                (isInside, isInDefault) = (true, false)
            case "default": (hasDefault, isInside, isInDefault) = (true, true, true)
            case "macdef":
                _ = try reader.value(of: word)
                reader.skipMacro()
            case "login", "user", "password", "account":
                guard isInside else { throw reader.error("has a \(word) before any machine") }
                set(word, try reader.value(of: word))
            default: throw reader.error("has a word that netrc files do not have there")
            }
        }
    }

    private var isInDefault = false

    private mutating func set(_ word: String, _ value: String) {
        if isInDefault { return }
        switch word {
        case "password": entries[entries.count - 1].login.password = value
        case "account": break
        default: entries[entries.count - 1].login.name = value
        }
    }

    /// The login of a host, which is in lower-case ASCII and without brackets, or of one user there; nil without an
    /// entry.
    package func login(for host: String, user: String? = nil) -> Login? {
        let host = Self.host(host)
        return entries.first { entry in
            entry.host.utf8.elementsEqual(host.utf8)
                && (user.map { entry.login.name?.utf8.elementsEqual($0.utf8) ?? false } ?? true)
        }?.login
    }

    private static func host(_ text: String) -> String {
        let isInBrackets = text.hasPrefix("[") && text.hasSuffix("]")
        return lowercased(isInBrackets ? text.utf8.dropFirst().dropLast() : text.utf8[...])
    }

    private static func lowercased(_ bytes: Substring.UTF8View) -> String {
        String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension NetrcFile.Login: CustomStringConvertible, CustomReflectable {
    package var description: String { name == nil ? "no login" : "a login" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
