/// Text from elsewhere, made fit to be shown: a file's name, a reason phrase, a field or a certificate's subject is
/// whatever a server likes it to be, and must not move the cursor, clear the screen, set the window's title, forge a
/// line of a log or turn a line around.
///
/// Whatever reaches a terminal or the text of an error comes through here, but for bodies: those are the user's.
///
/// Rules:
/// 1. Controls, what begins an escape sequence among them, and all that is not shown but has an effect (directions,
///    joiners, variations, tags) are left out. What followed an escape stays, as the text it is.
/// 2. White space of any kind is a blank, the ends of lines too: what comes out is one line.
/// 3. A scalar that is no character is shown as U+FFFD.
/// 4. Marks pile up on one character to a small number, and text has an end.
package enum VisibleText {
    package static let longest = 4096
    private static let highestPile = 4

    /// As far as the first `limit` characters (Unicode scalars) go.
    package static func of(_ text: some StringProtocol, upTo limit: Int = longest) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(text) }
        var shown = String.UnicodeScalarView()
        var pile = 0
        for scalar in text.unicodeScalars.prefix(max(0, limit)) {
            guard let visible = visible(scalar) else { continue }
            pile = takesNoRoom(visible) ? pile + 1 : 0
            if pile <= highestPile { shown.append(visible) }
        }
        return String(shown)
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

    /// Marks, and the vowels and finals of Hangul, which join the initial before them.
    private static func takesNoRoom(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value)
        }
    }
}
