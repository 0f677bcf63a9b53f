/// The library's errors name its settings in backquotes. People of the command have options instead.
extension ErrorText {
    /// What is said of a setting, and what the command says there.
    private static let options = [
        ("give the body as bytes, a file or `.replayable`", "give it in a file"),
        ("`redirects.limit` allows no more", "--max-redirs can allow more"),
        ("set `tls.roots`", "give --cacert FILE"),
        ("`hostOverrides` or `socketPath` gives", "--resolve or --unix-socket gives"),
        ("to the proxy's exceptions (`except:`)", "to --noproxy"),
        ("`allowedAddresses` can allow it", "without --guard it is allowed"),
    ]

    /// The text with the command's options, or with no setting at all: a clause that only advises to change one is left
    /// out.
    static func withoutSettings(_ text: String) -> String {
        var text = text
        for (advice, option) in options { text = text.replacing(advice, with: option) }
        guard text.contains("`") else { return text }
        let clauses = text.split(separator: "; ", omittingEmptySubsequences: false).map(String.init)
        let kept = clauses.prefix(1) + clauses.dropFirst().filter { replacingSettings(in: $0) == $0 }
        return replacingSettings(in: kept.joined(separator: "; "))
    }

    /// The text with words instead of each setting between backquotes.
    private static func replacingSettings(in text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        var (result, index) = (String(parts[0]), 1)
        while index < parts.count {
            if index + 1 < parts.count, isSetting(parts[index]) {
                result += "a limit of this command" + parts[index + 1]
                index += 2
            } else {
                result += "`" + parts[index]
                index += 1
            }
        }
        return result
    }

    /// Compared with what a server or a URL has between backquotes, a setting is one name, or several with dots.
    private static func isSetting(_ text: Substring) -> Bool {
        var name = text
        if name.hasSuffix("([])") { name = name.dropLast(4) }
        if name.hasPrefix(".") { name = name.dropFirst() }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
            !word.isEmpty && word.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        }
    }
}
