/// What is said of an option that a command does not have: why it is not there, whose it is, or the nearest one.
struct OptionLookup {
    private let command: CommandText
    private let program: ProgramText

    init(_ command: CommandText, of program: ProgramText) {
        (self.command, self.program) = (command, program)
    }

    private var denial: String { command.name.isEmpty ? "there is no option" : "\(command.name) has no option" }
    private var advice: String { "see \(program.name) help all" }

    /// Text that no name has, such as that of `"--bearer TOKEN"` in quotes, is not shown: it may be a secret.
    func error(forName text: String) -> UsageError {
        let name = String(text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") })
        let spelling = "--\(name)" + (name == text ? "" : "…")
        if name != text, command.options.contains(where: { $0.names.contains(name) }) {
            return UsageError(
                description: "\(denial) \"\(spelling)\"; write --\(name) and its value as two words, or with = between")
        }
        if let absent = program.absent.first(where: { $0.names.contains(name) }) {
            return UsageError(description: "\(spelling) is not there: \(absent.reason)")
        }
        let start = "\(denial) \"\(spelling)\""
        if let owner = owner(where: { $0.names.contains(name) }) {
            return UsageError(description: "\(start); it is one of \(owner)")
        }
        guard let nearest = Self.nearest(to: name, among: command.options.flatMap(\.names)) else {
            return UsageError(description: "\(start); \(advice)")
        }
        return UsageError(description: "\(start); the nearest is --\(nearest)")
    }

    /// `text` is the whole argument without its dash. A word of several letters was perhaps meant as a long name.
    func error(forLetter letter: Character, in text: Substring) -> UsageError {
        let word = String(text.prefix { $0 != "=" && $0 != " " })
        if text.first == letter, word.count > 1, command.options.contains(where: { $0.names.contains(word) }) {
            return UsageError(description: "\(denial) \"-\(word)\"; the nearest is --\(word)")
        }
        if let absent = program.absent.first(where: { $0.letter == letter }) {
            let name = absent.names.first.map { " (--\($0))" } ?? ""
            return UsageError(description: "-\(letter)\(name) is not there: \(absent.reason)")
        }
        // What follows may be a value, and a secret.
        let end = text.firstIndex(of: letter).map(text.index(after:)) ?? text.endIndex
        let whole = text.count > 1 ? ", in \"-\(text[..<end])\(end == text.endIndex ? "" : "…")\"" : ""
        let start = "\(denial) \"-\(letter)\"\(whole)"
        if let owner = owner(where: { $0.letter == letter }) {
            return UsageError(description: "\(start); it is one of \(owner)")
        }
        let other = letter.isLowercase ? Character(letter.uppercased()) : Character(letter.lowercased())
        guard let nearest = command.options.first(where: { $0.letter == other }) else {
            return UsageError(description: "\(start); \(advice)")
        }
        return UsageError(description: "\(start); the nearest is -\(other), --\(nearest.name)")
    }

    /// The command that has such an option.
    private func owner(where isMeant: (OptionText) -> Bool) -> String? {
        let owner = program.all.first { $0.name != command.name && $0.options.contains(where: isMeant) }
        return owner.map {
            $0.name.isEmpty ? "\(program.name) \($0.arguments.prefix { $0 != " " })" : "\(program.name) \($0.name)"
        }
    }

    /// The word that needs the fewest changes, if they are few for its length. A word that goes on where the text ends
    /// counts as near.
    static func nearest(to text: String, among words: [String]) -> String? {
        if text.count > 2, let longer = words.first(where: { $0.hasPrefix(text) }) { return longer }
        let distances = words.map { (word: $0, distance: distance(Array(text), Array($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, text.count / 3) ? best.word : nil
    }

    /// How many characters are to be added, removed, replaced, or exchanged with their neighbour.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        // Only the last two rows of the table are kept.
        var (earlier, last) = ([Int](), Array(0...right.count))
        for (row, letter) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column] + (letter == other ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, earlier[column - 1] + 1)
                }
                next.append(best)
            }
            (earlier, last) = (last, next)
        }
        return last[right.count]
    }
}
