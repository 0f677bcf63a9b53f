internal import DunlinTypes

/// Text from elsewhere on a line of a display: as everywhere (`VisibleText`), so that it drives no terminal.
package enum ShownText {
    package static func of(_ text: String) -> String { VisibleText.of(text) }

    /// The same of several lines.
    static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { of(String($0)) }
    }
}
