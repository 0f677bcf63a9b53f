/// Text from elsewhere, made safe to show: a server can put anything into a file's name, a reason phrase, a field or a
/// certificate's subject, but must not move the cursor, clear the screen, set the window's title, forge a line of a log
/// or reverse a line's direction.
///
/// Everything that reaches a terminal or an error's text comes through here. A body is the user's and keeps its lines:
/// there `hasEffect` tells what must not be written as it is.
///
/// Rules for one line:
/// 1. Controls, including the start of escape sequences, and invisible characters with an effect (directions, joiners,
///    variations, tags) are left out. The text after an escape stays.
/// 2. White space of any kind, including line ends, becomes a blank, so the result is one line.
/// 3. A scalar that is no character is shown as U+FFFD.
/// 4. The number of marks on one character is limited, and so is the length of the text.
package enum VisibleText {
    package static let longest = 4096
    private static let highestPile = 4

    /// The visible text, up to its first `limit` Unicode scalars.
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

    /// Whether a terminal does something else than to show the scalar: a control, a change of direction, a line's end
    /// other than the usual one, or a tag, which hides text. In text of several lines a line feed and a tab are none.
    ///
    /// What joins characters has no such effect: without it a family is three people, and Persian is misspelt.
    package static func hasEffect(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x20...0x7E: false
        case 0...0x1F, 0x7F...0x9F: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
        case 0xE0000...0xE0FFF: true
        default: false
        }
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

    /// Whether a scalar joins the one before it: marks, and the vowels and finals of Hangul.
    private static func takesNoRoom(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: (0x1160...0x11FF).contains(scalar.value) || (0xD7B0...0xD7FF).contains(scalar.value)
        }
    }
}
