internal import DunlinCodecs

/// How a picture is shown on a terminal, or why it is not.
///
/// Rules, the first that applies: what was asked for outright; nothing where there is no terminal, or one that shows no
/// pictures, or whose user wants no colours (`NO_COLOR`); blocks through tmux and screen; what the terminal itself says
/// it can do, kitty's protocol before sixel; what its name is known for, if it said nothing; blocks, if its characters
/// are UTF-8.
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
        // Where nobody looks there is no terminal that could show fewer.
        if !isTerminal, !hints.isCapable { style.colors = .full }
        style.registers = min(max(answers.registers ?? 256, 2), 256)
        style.background = answers.background
        self = .draw(style)
    }

    /// Whether there is any use in asking the terminal.
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
        /// It goes to a file or a pipe, or the program is in the background.
        case noTerminal
        /// The terminal moves no cursor and shows no colours.
        case dumbTerminal
        /// The environment says `NO_COLOR`.
        case noColor
        /// The terminal shows neither pictures nor, by its locale, the characters that blocks are made of.
        case noUnicode
    }
}
