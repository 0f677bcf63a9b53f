import Dunlin
import DunlinCommandLine
import DunlinTypes

/// A command line as a person can give it again: quoted for a shell, and without secrets.
enum CommandEcho {
    /// What stands for a secret.
    private static let hidden = "…"
    /// What the values of fields begin with that are credentials, whatever the field is called.
    private static let tokens = ["basic ", "bearer ", "digest ", "negotiate ", "token ", "eyj"]

    /// The line of a program with this table; `adding` are options that it gets unless it has them. `isWhole` says
    /// whether nothing was left out.
    static func line(
        of arguments: [String], for text: ProgramText, adding: [(spellings: [String], words: [String])] = []
    ) -> (text: String, isWhole: Bool) {
        let named = arguments.first.flatMap { text.command($0) }
        var machine = ArgumentMachine(named ?? text.main, of: text)
        var words = [text.name] + (named.map { [$0.name] } ?? [])
        var isWhole = true
        var missing = adding
        func add(_ shown: String, _ word: String) {
            words.append(shown)
            if shown != word { isWhole = false }
        }
        for argument in arguments.dropFirst(named == nil ? 0 : 1) {
            let actions: [ArgumentMachine.Action]
            // The same arguments were parsed before.
            do throws(UsageError) { actions = try machine.take(argument) } catch { continue }
            for action in actions {
                switch action {
                case .word(let word): add(self.word(word), word)
                case .option(let given):
                    missing.removeAll { !Set($0.spellings).isDisjoint(with: given.option.spellings) }
                    words.append(given.spelling)
                    if given.option.value != nil { add(value(given), given.value) }
                }
            }
        }
        words += missing.flatMap(\.words)
        return (words.map(ShellText.quoted).joined(separator: " "), isWhole)
    }

    private static func value(_ given: GivenOption) -> String {
        let shown = named(given)
        // Whatever an option is for, its value may hold a secret that looks like one.
        return shown == given.value && isSecret(shown) ? hidden : shown
    }

    /// Whether a text seems to have a password before an @, or a value with a secret name.
    private static func isSecret(_ text: String) -> Bool {
        let start = text.utf8.firstRange(of: "://".utf8)?.upperBound ?? text.startIndex
        let authority = text.utf8[start...].prefix { !"/?#".utf8.contains($0) }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")), authority[..<at].contains(UInt8(ascii: ":")) {
            return true
        }
        return SecretText.masked(text, as: .form) != text
    }

    private static func named(_ given: GivenOption) -> String {
        switch given.option.name {
        case "user": return String(given.value.parts(at: UInt8(ascii: ":"))[0])
        case "bearer": return given.value.hasPrefix("@") ? given.value : hidden
        case "cookie": return given.value.utf8.contains(UInt8(ascii: "=")) ? hidden : given.value
        case "header":
            let name = given.value.parts(at: UInt8(ascii: ":"))[0]
            let value = given.value[name.endIndex...].drop { $0 == ":" || $0 == " " }.lowercased()
            let isToken = tokens.contains { value.hasPrefix($0) }
            return isToken || HTTP.SecretFields.usual.mayContain(String(name)) ? "\(name): \(hidden)" : given.value
        case "proxy", "referer": return word(given.value)
        default: return given.value
        }
    }

    /// A URL without its password and without the secrets of its query; any other word as it is, but for those items
    /// of a request whose names are secret.
    private static func word(_ word: String) -> String {
        let secret = HTTP.SecretFields.usual
        guard word.utf8.firstRange(of: "://".utf8) != nil || word.utf8.contains(UInt8(ascii: "?")) else {
            if isSecret(word) { return hidden }
            guard let end = word.utf8.firstIndex(where: { ":=".utf8.contains($0) }) else { return word }
            return secret.mayContain(String(word[..<end])) ? word[..<word.utf8.index(after: end)] + hidden : word
        }
        if let mark = word.utf8.firstIndex(of: UInt8(ascii: "#")),
            isSecret(String(word[word.utf8.index(after: mark)...]))
        {
            return Self.word(String(word[..<mark])) + "#" + hidden
        }
        let shown = URLWord.withoutUserInfo(word)
        if shown == word, isSecret(String(word.parts(at: UInt8(ascii: "?"))[0])) { return hidden }
        guard let question = shown.utf8.firstIndex(of: UInt8(ascii: "?")) else { return shown }
        let query = shown.utf8.index(after: question)
        let kept = shown[query...].parts(at: UInt8(ascii: "&")).map { part in
            let name = part.parts(at: UInt8(ascii: "="))[0]
            return secret.mayContain(String(name)) && name.endIndex < part.endIndex
                ? name + "=" + hidden : String(part)
        }
        return shown[..<query] + kept.joined(separator: "&")
    }
}
