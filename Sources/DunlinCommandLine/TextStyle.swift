/// How a part of a text looks on a terminal.
///
/// They are five of the eight base colours and bold: what reads well on black and on white, whatever the theme. Yellow
/// and white vanish on white, blue on black.
package enum TextStyle: Sendable, CaseIterable {
    case plain
    /// The name of a field or of a member.
    case name
    case string
    case number
    /// `true`, `false` and `null`.
    case word
    case success
    case notice
    case failure

    /// The control sequence that begins it; the plain style ends all others.
    package var control: String {
        switch self {
        case .plain: "\u{1B}[0m"
        case .name: "\u{1B}[1m"
        case .string: "\u{1B}[32m"
        case .number: "\u{1B}[35m"
        case .word: "\u{1B}[36m"
        case .success: "\u{1B}[1;32m"
        case .notice: "\u{1B}[1;36m"
        case .failure: "\u{1B}[1;31m"
        }
    }
}

/// A part of a line that is printed, in one style.
package struct StyledText: Equatable, Sendable {
    package let text: String
    package let style: TextStyle

    package init(_ text: String, _ style: TextStyle = .plain) {
        (self.text, self.style) = (text, style)
    }
}
