/// Turns frames into what is written to a terminal, or to what is none.
///
/// Rules:
/// 1. Lines that go on stand at the end of what was written, and the cursor at the beginning of the line below them,
///    visible: whenever the program ends, by whatever signal, the terminal is as it was.
/// 2. A frame goes up to the first of them and writes over it, line by line, so that nothing flickers. One that would
///    show what is there already is not written.
/// 3. No line is as wide as the terminal, so none wraps. One that was drawn when the terminal was wider may have been
///    wrapped since by the terminal: then it takes more than one row, and all is wiped first.
/// 4. No more lines than the terminal has rows below the first: nobody could go up to them. What sums up others stays,
///    then what moves, then what waits; how many are not shown is said. In a terminal of one row nothing can be drawn
///    over.
/// 5. Where lines cannot be drawn over, each is written when it reaches a milestone, one a second at most, and when it
///    is over: that it has ended is said once.
struct FramePainter {
    /// The widths of the lines that stand above the cursor, to be drawn over.
    private var drawn: [Int] = []
    private var shown: [String] = []
    /// Of the longest name since there were lines: a column that moves whenever one is over is hard to read.
    private var nameWidth = 0
    /// By line; where lines cannot be drawn over.
    private var told: [UInt64: (milestone: Int, at: Duration)] = [:]

    mutating func paint(_ frame: DisplayFrame, _ style: DisplayStyle, _ terminal: TerminalSize?, at now: Duration)
        -> String
    {
        guard let terminal = terminal?.drawable else { return plain(frame, at: now) }
        let (stays, rows) = rows(of: frame, style, terminal, at: now)
        let texts = rows.map { $0.text(inColour: style.hasColour) }
        let isWrapped = drawn.contains { $0 >= terminal.columns }
        if stays.isEmpty, texts == shown, !isWrapped { return "" }
        var text = goingUp(terminal) + (isWrapped ? "\u{1B}[J" : "")
        for line in stays + texts { text += line + "\u{1B}[K\r\n" }
        // What is left of more lines, or of wrapped ones.
        text += "\u{1B}[J"
        (drawn, shown) = (rows.map(\.width), texts)
        return text
    }

    private func goingUp(_ terminal: TerminalSize) -> String {
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + terminal.columns - 1) / terminal.columns) }
        let reachable = min(rows, terminal.rows - 1)
        return reachable > 0 ? "\r\u{1B}[\(reachable)A" : "\r"
    }

    private mutating func rows(
        of frame: DisplayFrame, _ style: DisplayStyle, _ terminal: TerminalSize, at now: Duration
    ) -> (stays: [String], rows: [Row]) {
        let names = (frame.ended + frame.live).compactMap { $0.line.name.map { DisplayWidth.of($0) } }
        nameWidth = max(nameWidth, names.max() ?? 0)
        defer { if frame.live.isEmpty { nameWidth = 0 } }
        let layout = Layout(width: max(1, terminal.columns - 1), nameWidth: nameWidth, style: style, time: now)
        let printed = frame.printed.map(\.plain)
        let ended = frame.ended.map { $0.line.row(layout).text(inColour: style.hasColour) }
        let room = max(1, terminal.rows - 1)
        return (printed + ended, Self.shown(frame.live.map(\.line), room).map { $0.row(layout) })
    }

    /// As many lines as there is room for, in their order. Those that sum up others stand at the end then, below the
    /// number of what is left out.
    private static func shown(_ lines: [DisplayLine], _ room: Int) -> [DisplayLine] {
        guard lines.count > room else { return lines }
        if room == 1, let sum = lines.last(where: { $0.rank == 0 }) { return [sum] }
        let ranks = lines.indices.sorted { (lines[$0].rank, $0) < (lines[$1].rank, $1) }
        let kept = ranks.prefix(room - 1).sorted().map { lines[$0] }
        let rest = DisplayLine.status("and \(lines.count - room + 1) more")
        return kept.filter { $0.rank > 0 } + [rest] + kept.filter { $0.rank == 0 }
    }

    private mutating func plain(_ frame: DisplayFrame, at now: Duration) -> String {
        // What was drawn stays as it is.
        (drawn, shown) = ([], [])
        var lines = (frame.printed + frame.ended.map(\.line)).map(\.plain)
        for entry in frame.live where isNews(entry, at: now) {
            told[entry.id] = (entry.line.milestone, now)
            lines.append(entry.line.plain)
        }
        told = told.filter { id, _ in frame.live.contains { $0.id == id } }
        return lines.map { $0 + "\n" }.joined()
    }

    private func isNews(_ entry: DisplayFrame.Entry, at now: Duration) -> Bool {
        if entry.line.hasEnded { return false }
        guard let before = told[entry.id] else { return entry.line.isWorthBeginning }
        return entry.line.milestone > before.milestone && now >= before.at + .seconds(1)
    }
}

extension TerminalSize {
    /// No terminal is larger, whatever it says.
    private static var largest: Int { 10_000 }

    /// In numbers that can be reckoned with; nil for what has no two rows, and so nothing that could be drawn over.
    fileprivate var drawable: TerminalSize? {
        guard rows > 1 else { return nil }
        return TerminalSize(columns: min(max(columns, 1), Self.largest), rows: min(rows, Self.largest))
    }
}

extension DisplayLine {
    /// The lower, the longer it stays where there is little room.
    fileprivate var rank: Int {
        switch self {
        case .batch: 0
        case .bar(let line): line.isWaiting ? 2 : 1
        case .spinner, .status: 1
        }
    }

    /// It is about to be over, and written then.
    fileprivate var hasEnded: Bool {
        if case .bar(let line) = self { line.end != nil } else { false }
    }

    /// A transfer that has not moved yet is no news.
    fileprivate var isWorthBeginning: Bool {
        switch self {
        case .bar, .batch: milestone > 0
        case .spinner, .status: true
        }
    }
}
