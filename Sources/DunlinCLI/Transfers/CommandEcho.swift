import Dunlin
import DunlinCommandLine

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
        return (words.map(quoted).joined(separator: " "), isWhole)
    }

    private static func value(_ given: GivenOption) -> String {
        let shown = named(given)
        // Whatever an option is for, its value may hold a secret that looks like one.
        return shown == given.value && isSecret(shown) ? hidden : shown
    }

    /// Whether a text seems to have a password before an @, or a value with a secret name.
    private static func isSecret(_ text: String) -> Bool {
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        let authority = text[start...].prefix { !"/?#".contains($0) }
        if let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") { return true }
        return SecretText.masked(text, as: .form) != text
    }

    private static func named(_ given: GivenOption) -> String {
        switch given.option.name {
        case "user": return String(given.value.prefix { $0 != ":" })
        case "bearer": return given.value.hasPrefix("@") ? given.value : hidden
        case "cookie": return given.value.contains("=") ? hidden : given.value
        case "header":
            let name = given.value.prefix { $0 != ":" }
            let value = given.value.dropFirst(name.count + 1).drop { $0 == " " }.lowercased()
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
        guard word.contains("://") || word.contains("?") else {
            if isSecret(word) { return hidden }
            guard let end = word.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return word }
            return secret.mayContain(String(word[..<end])) ? word[...end] + hidden : word
        }
        if let mark = word.firstIndex(of: "#"), isSecret(String(word[mark...].dropFirst())) {
            return Self.word(String(word[..<mark])) + "#" + hidden
        }
        let shown = URLWord.withoutUserInfo(word)
        if shown == word, isSecret(String(word.prefix { $0 != "?" })) { return hidden }
        guard let question = shown.firstIndex(of: "?") else { return shown }
        let parts = shown[shown.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
        let kept = parts.map { part in
            let name = part.prefix { $0 != "=" }
            return secret.mayContain(String(name)) && name.count < part.count ? name + "=" + hidden : String(part)
        }
        return shown[...question] + kept.joined(separator: "&")
    }

    /// The word for a shell: plain if nothing in it has a meaning there, otherwise in single quotes.
    static func quoted(_ word: String) -> String {
        let isPlain =
            !word.isEmpty && word.first != "~"
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-_./:@%+,=~".utf8.contains(byte)
            }
        return isPlain
            ? word
            : "'"
                + word.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
    }
}
