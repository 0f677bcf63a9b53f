internal import DunlinCodecs

/// How a picture is shown on a terminal, or why it is not.
///
/// The first of these rules applies: an explicitly requested method; nothing without a terminal, on one that cannot
/// show pictures, or if the user wants no colours (`NO_COLOR`); blocks through tmux and screen; what the terminal says
/// it can do, kitty's protocol before sixel; what a terminal of its name can do, if it said nothing; blocks, if its
/// characters are UTF-8.
enum TerminalChoice: Hashable {
    case draw(TerminalImage.Style)
    case describe(TerminalImage.Refusal)

    init(
        asked: TerminalImage.Method? = nil, isTerminal: Bool, _ hints: TerminalHints, _ answers: TerminalAnswers
    ) {
        let refusal = Self.refusal(isTerminal, hints)
        if asked == nil, let refusal {
            self = .describe(refusal)
            return
        }
        guard let method = asked ?? Self.method(hints, answers) else {
            self = .describe(.noUnicode)
            return
        }
        var style = TerminalImage.Style(method)
        style.colors = hints.colors
        // If it is not a terminal, none limits the colours.
        if !isTerminal, !hints.isCapable { style.colors = .full }
        style.registers = min(max(answers.registers ?? 256, 2), 256)
        style.background = answers.background
        self = .draw(style)
    }

    /// Whether it is useful to ask the terminal.
    static func asks(asked: TerminalImage.Method?, isTerminal: Bool, _ hints: TerminalHints) -> Bool {
        isTerminal && hints.isAskable && (asked != nil || refusal(isTerminal, hints) == nil)
    }

    private static func refusal(_ isTerminal: Bool, _ hints: TerminalHints) -> TerminalImage.Refusal? {
        if !isTerminal { return .noTerminal }
        if !hints.isCapable { return .dumbTerminal }
        return hints.refusesColor ? .noColor : nil
    }

    private static func method(_ hints: TerminalHints, _ answers: TerminalAnswers) -> TerminalImage.Method? {
        let blocks = hints.hasUnicode ? TerminalImage.Method.blocks : nil
        if hints.isMultiplexed { return blocks }
        if answers.hasKitty { return .kitty }
        if answers.hasSixel { return .sixel }
        return (answers.isKnown ? nil : hints.method) ?? blocks
    }
}

extension TerminalImage {
    /// Why no picture is drawn.
    public enum Refusal: String, Sendable, Hashable {
        /// The output is a file or a pipe, or the program is in the background.
        case noTerminal
        /// The terminal cannot move its cursor or show colours.
        case dumbTerminal
        /// The environment sets `NO_COLOR`.
        case noColor
        /// The terminal shows neither pictures nor, by its locale, block characters.
        case noUnicode
    }
}
