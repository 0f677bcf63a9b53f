/// What the environment says of a terminal: which decides what is asked, and what is done where there is no answer.
struct TerminalHints: Hashable {
    /// Whether it shows colours and moves its cursor at all.
    let isCapable: Bool
    /// Whether whoever uses it wants none.
    let refusesColor: Bool
    /// Whether something stands between that shows neither kitty's pictures nor sixels, and may let through half of
    /// them.
    let isMultiplexed: Bool
    /// Whether it is worth asking: what is multiplexed would answer for itself, and Linux's own console shows
    /// questions.
    let isAskable: Bool
    /// Whether blocks are among its characters.
    let hasUnicode: Bool
    let colors: TerminalImage.Colors
    /// What it is known for by name.
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
