/// The number of columns that text takes on a terminal.
///
/// Wide characters are those that Unicode's East Asian Width (UAX #11) calls wide or fullwidth, and emoji; marks and
/// invisible characters have no width. If terminals differ, the greater width counts: a line that is too short does no
/// harm, but one that is too long wraps.
package enum DisplayWidth {
    package static func of(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + of($1) }
    }

    package static func of(_ scalar: Unicode.Scalar) -> Int {
        if (0x20...0x7E).contains(scalar.value) { return 1 }
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .lineSeparator, .paragraphSeparator, .surrogate:
            return 0
        default: break
        }
        if joining.contains(where: { $0.contains(scalar.value) }) { return 0 }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// The beginning of a text, as far as it fits.
    static func cut(_ text: String, to width: Int) -> String {
        var left = width
        var end = text.startIndex
        for character in text {
            left -= of(String(character))
            if left < 0 { break }
            end = text.index(after: end)
        }
        return String(text[..<end])
    }

    /// The whole text if it fits, otherwise its beginning and end: the end of a file name says more than the middle.
    package static func abridged(_ text: String, to width: Int, _ gap: String) -> String {
        if of(text) <= width { return text }
        let room = width - of(gap)
        guard room > 2 else { return cut(text, to: width) }
        let end = String(cut(String(text.reversed()), to: room / 3).reversed())
        return cut(text, to: room - of(end)) + gap + end
    }

    /// The text, padded with blanks if it is shorter.
    package static func padded(_ text: String, to width: Int, atStart: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - of(text)))
        return atStart ? blanks + text : text + blanks
    }

    /// The vowels and finals of Hangul, which join the initial before them.
    private static let joining: [ClosedRange<UInt32>] = [0x1160...0x11FF, 0xD7B0...0xD7FF]

    /// The wide characters other than emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3040...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x1F300...0x1F64F,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}
