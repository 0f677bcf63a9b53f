/// Names in two styles, `first_name` and `firstName`. Converting there and back may change a name: `myURL` becomes
/// `my_url`, which becomes `myUrl`.
enum SnakeCase {
    /// The name in camel case. Leading and trailing underscores stay; every word between them but the first is
    /// capitalized.
    static func camelCase(_ name: String) -> String {
        let underscore = UInt8(ascii: "_")
        guard let first = name.utf8.firstIndex(where: { $0 != underscore }),
            let last = name.utf8.lastIndex(where: { $0 != underscore })
        else { return name }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let joined = words[0].lowercased() + words.dropFirst().map { capitalized($0) }.joined()
        return name[..<first] + joined + name[name.utf8.index(after: last)...]
    }

    /// The name in snake case. A word begins at an upper-case letter that follows another character, and before the
    /// last of several upper-case letters. The very first letter counts as lower case, so `URLString` becomes
    /// `u_rl_string`, as in Foundation.
    static func snakeCase(_ name: String) -> String {
        let scalars = Array(name.unicodeScalars)
        var words: [ArraySlice<Unicode.Scalar>] = []
        var start = 0
        var next = 1
        while let upper = scalars.indices.dropFirst(next).first(where: { scalars[$0].properties.isUppercase }) {
            words.append(scalars[start..<upper])
            start = upper
            guard let lower = scalars[upper...].firstIndex(where: { $0.properties.isLowercase }) else { break }
            if lower > upper + 1 {
                words.append(scalars[upper..<(lower - 1)])
                start = lower - 1
            }
            next = lower
        }
        if start < scalars.count { words.append(scalars[start...]) }
        return words.map { String(String.UnicodeScalarView($0)).lowercased() }.joined(separator: "_")
    }

    private static func titlecased(_ character: Character) -> String {
        let scalars = character.unicodeScalars
        return (scalars.first?.properties.titlecaseMapping ?? "")
            + String(String.UnicodeScalarView(scalars.dropFirst()))
    }

    /// The word with each letter in upper case that does not follow a cased letter, and all others in lower case.
    private static func capitalized(_ word: Substring) -> String {
        var text = ""
        var isWithin = false
        for character in word {
            text += isWithin ? character.lowercased() : titlecased(character)
            // An apostrophe does not begin a new word.
            if character != "'" { isWithin = character.isCased }
        }
        return text
    }
}
