internal import DunlinTypes

/// Text from elsewhere, made safe for a display's line by `VisibleText`, so that it cannot control the terminal.
package enum ShownText {
    package static func of(_ text: String) -> String { VisibleText.of(text) }

    /// The lines of a text, each made safe.
    static func lines(of text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { of(String($0)) }
    }
}
