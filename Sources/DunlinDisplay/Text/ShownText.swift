/// Text from elsewhere, made fit to be shown: a file's name is whatever a server likes it to be, and must not move the
/// cursor, clear the screen, set the window's title or turn the line around.
///
/// Rules:
/// 1. Controls, what begins an escape sequence among them, and all that is not shown but has an effect (directions,
///    joiners, variations, tags) are left out. What followed an escape stays, as the text it is.
/// 2. White space of any kind is a blank.
/// 3. What is no character is shown as one that cannot be.
/// 4. Marks pile up on one character to a small number, and text has an end.
package enum ShownText {
    private static let longest = 4096
    private static let highestPile = 4

    package static func of(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        var pile = 0
        for scalar in text.unicodeScalars.prefix(longest) {
            guard let visible = visible(scalar) else { continue }
            pile = DisplayWidth.of(visible) == 0 ? pile + 1 : 0
            if pile <= highestPile { shown.append(visible) }
        }
        return String(shown)
    }

    /// The same of several lines.
    static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { of(String($0)) }
    }

    private static func visible(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if (0x20...0x7E).contains(scalar.value) { return scalar }
        switch scalar.properties.generalCategory {
        case .spaceSeparator, .lineSeparator, .paragraphSeparator: return " "
        case .control where ["\t", "\n", "\r", "\u{85}"].contains(scalar): return " "
        case .control, .format: return nil
        case .surrogate, .privateUse, .unassigned: return "\u{FFFD}"
        default: return scalar.properties.isDefaultIgnorableCodePoint ? nil : scalar
        }
    }
}
