/// The library's errors name its settings in backquotes. People of the command have options instead.
extension ErrorText {
    /// What is said of a setting, and what the command says there.
    private static let options = [
        ("give the body as bytes, a file or `.replayable`", "give it in a file"),
        ("`redirects.limit` allows no more", "--max-redirs can allow more"),
        ("set `tls.roots`", "give --cacert FILE"),
        ("`allowedAddresses` can allow it", "without --guard it is allowed"),
    ]

    /// The text with the command's options, or with no setting at all: a clause that only advises to change one is left
    /// out.
    static func withoutSettings(_ text: String) -> String {
        var text = text
        for (advice, option) in options { text = text.replacing(advice, with: option) }
        guard text.contains("`") else { return text }
        let clauses = text.split(separator: "; ", omittingEmptySubsequences: false)
        let kept = clauses.prefix(1) + clauses.dropFirst().filter { $0.firstMatch(of: setting) == nil }
        return kept.joined(separator: "; ").replacing(setting) { _ in "a limit of this command" }
    }

    /// Compared with what a server or a URL has between backquotes, a setting is one name, or several with dots.
    private static var setting: Regex<Substring> { /`\.?[A-Za-z]+(?:\.[A-Za-z]+)*(?:\(\[\]\))?`/ }
}
