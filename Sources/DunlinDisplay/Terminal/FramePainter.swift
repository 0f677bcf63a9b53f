/// Turns frames into the text that is written to a terminal or other output.
///
/// Rules:
/// 1. Lines that continue are at the end of the output, with the cursor visible at the beginning of the line below
///    them, so the terminal is in order whenever the program ends, by whatever signal.
/// 2. A frame moves up to the first of them and overwrites them line by line, so that nothing flickers. An unchanged
///    frame is not written.
/// 3. No line is as wide as the terminal, so none wraps. If the terminal has become narrower and may have wrapped lines
///    into several rows, everything is erased first.
/// 4. There is at most one line less than the terminal has rows, since the cursor cannot move up further. Summaries
///    take precedence, then lines that move, then waiting ones; the number of hidden lines is shown. A terminal with
///    one row cannot redraw.
/// 5. Where lines cannot be redrawn, each is written when it reaches a milestone, at most once a second, and when it is
///    over; its end is written once.
struct FramePainter {
    /// The widths of the lines above the cursor that can be redrawn.
    private var drawn: [Int] = []
    private var shown: [String] = []
    /// The width of the longest name since lines began: a column that moves whenever a line ends is hard to read.
    private var nameWidth = 0
    /// The last milestone and time of each line, where lines cannot be redrawn.
    private var reported: [UInt64: (milestone: Int, at: Duration)] = [:]
    /// Whether nothing but the ends of lines is written where lines cannot be redrawn.
    var tellsEndsOnly = false

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
        // Erases the rest of former or wrapped lines.
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

    /// The lines for which there is room, in order. If some are left out, summaries come last, below the number of
    /// those left out.
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
            reported[entry.id] = (entry.line.milestone, now)
            lines.append(entry.line.plain)
        }
        reported = reported.filter { id, _ in frame.live.contains { $0.id == id } }
        return lines.map { $0 + "\n" }.joined()
    }

    private func isNews(_ entry: DisplayFrame.Entry, at now: Duration) -> Bool {
        if tellsEndsOnly || entry.line.hasEnded { return false }
        guard let before = reported[entry.id] else { return entry.line.isWorthBeginning }
        return entry.line.milestone > before.milestone && now >= before.at + .seconds(1)
    }
}

extension TerminalSize {
    /// The greatest size that is believed, whatever a terminal says.
    private static var largest: Int { 10_000 }

    /// The size, limited to sensible numbers; nil without two rows, so that nothing can be redrawn.
    fileprivate var drawable: TerminalSize? {
        guard rows > 1 else { return nil }
        return TerminalSize(columns: min(max(columns, 1), Self.largest), rows: min(rows, Self.largest))
    }
}

extension DisplayLine {
    /// The lower the rank, the longer a line stays when there is little room.
    fileprivate var rank: Int {
        switch self {
        case .batch: 0
        case .bar(let line): line.isWaiting ? 2 : 1
        case .spinner, .status: 1
        }
    }

    /// Whether the line has ended and will be written for the last time.
    fileprivate var hasEnded: Bool {
        if case .bar(let line) = self { line.end != nil } else { false }
    }

    /// Whether the line is worth writing; a transfer that has not moved is not.
    fileprivate var isWorthBeginning: Bool {
        switch self {
        case .bar, .batch: milestone > 0
        case .spinner, .status: true
        }
    }
}
