/// What the environment says about a terminal. It decides which questions are asked, and what is done without answers.
struct TerminalHints: Hashable {
    /// Whether the terminal shows colours and moves its cursor.
    let isCapable: Bool
    /// Whether the user wants no colours.
    let refusesColor: Bool
    /// Whether a multiplexer is in between, which shows neither kitty's pictures nor sixels and may pass half of them
    /// on.
    let isMultiplexed: Bool
    /// Whether the terminal should be asked: a multiplexer would answer for itself, and Linux's own console displays
    /// the questions.
    let isAskable: Bool
    /// Whether the terminal has block characters.
    let hasUnicode: Bool
    let colors: TerminalImage.Colors
    /// The method that terminals of this name support.
    let method: TerminalImage.Method?

    init(_ environment: [String: String]) {
        func value(_ name: String) -> String { environment[name]?.lowercased() ?? "" }
        let (kind, program) = (value("TERM"), value("TERM_PROGRAM"))
        isCapable = !kind.isEmpty && kind != "dumb"
        refusesColor = !value("NO_COLOR").isEmpty
        isMultiplexed =
            environment["TMUX"].map { !$0.isEmpty } ?? false || environment["STY"].map { !$0.isEmpty } ?? false
            || kind.hasPrefix("screen") || kind.hasPrefix("tmux")
        isAskable = isCapable && !isMultiplexed && kind != "linux"
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(value).first { !$0.isEmpty } ?? ""
        hasUnicode = locale.contains("utf-8") || locale.contains("utf8")
        method = Self.method(kind, program)
        colors = Self.hasFullColor(kind, program, value("COLORTERM")) ? .full : .palette
    }

    private static func method(_ kind: String, _ program: String) -> TerminalImage.Method? {
        switch (kind, program) {
        case ("xterm-kitty", _), ("xterm-ghostty", _), (_, "ghostty"), (_, "wezterm"): .kitty
        case ("foot", _), ("foot-extra", _), ("mlterm", _), ("contour", _), ("yaft-256color", _): .sixel
        default: nil
        }
    }

    private static func hasFullColor(_ kind: String, _ program: String, _ colors: String) -> Bool {
        if colors == "truecolor" || colors == "24bit" { return true }
        if kind.hasSuffix("-direct") || method(kind, program) != nil { return true }
        return ["iterm.app", "vscode", "hyper", "rio"].contains(program)
    }
}
