internal import Dunlin

/// One transfer: its name, a bar, its progress, its rate, and the time left.
///
/// If there is too little room, these are left out in order: bytes, rate, time, bar. The name is shortened before the
/// bar is left out, and the fraction stays to the last. Without a total there is a spinner and a count of bytes instead
/// of a bar, and until something has come the line says that it waits.
struct BarLine: Equatable, Sendable {
    enum End: Equatable, Sendable {
        case well
        case cancelled
        case failed(String)
        /// Nothing was transferred, and why that is well.
        case unneeded(String)
    }

    var name: String
    private var start: Duration
    /// Whether time counts from the first sign of the transfer, since it waits for its turn before.
    private let startsLate: Bool
    private(set) var progress = HTTPSession.TransferProgress()
    /// How the transfer ended; nil until that is known.
    private(set) var end: End?
    private var latest: Duration
    /// The bytes and time at the first observed movement; what came before does not count for the rate.
    private var moved: Moved?
    /// Whether nothing can change the line any more.
    var isOver = false

    /// Creates a line; `start` is when observation began.
    init(name: String, since start: Duration, startsLate: Bool = false) {
        self.name = name
        (self.start, self.startsLate) = (start, startsLate)
        latest = start
    }

    /// Whether something has been shown.
    private var isSeen = false

    private struct Moved: Equatable, Sendable {
        let bytes: Int
        let at: Duration
    }

    mutating func show(_ progress: HTTPSession.TransferProgress, at now: Duration) {
        if moved == nil, isSeen, progress.wireBytes != self.progress.wireBytes {
            moved = Moved(bytes: progress.wireBytes, at: now)
        }
        isSeen = true
        if startsLate, isWaiting { start = now }
        self.progress = progress
        latest = now
        if progress.isFinal, progress.fraction == 1 { end = .well }
    }

    mutating func end(_ end: End, at now: Duration) {
        self.end = end
        latest = now
    }

    fileprivate var elapsed: Duration { latest - start }

    var isAnimated: Bool { !isOver && end == nil && progress.totalBytes == nil && !isWaiting }

    /// Whether nothing has come, not even the total.
    var isWaiting: Bool { end == nil && !isOver && progress.totalBytes == nil && progress.wireBytes == 0 }

    /// The whole percent that have come; 100 only for all of it.
    private var percent: Int? { progress.fraction.map { Int($0 * 100) } }

    func row(_ layout: Layout) -> Row {
        if case .failed(let reason) = end { return ending("failed: ", .red, reason, layout) }
        if case .unneeded(let reason) = end { return ending("kept: ", nil, reason, layout) }
        let fields = Fields(self, layout)
        var row = Row()
        row.add(DisplayWidth.padded(DisplayWidth.abridged(name, to: fields.name, layout.style.gap), to: fields.name))
        if fields.bar > 0 { addBar(fields.bar, to: &row, layout.style) }
        row.add(Layout.gap)
        row.add(mark(layout), end == .well ? .green : end == .cancelled ? .red : nil)
        for text in fields.rest { row.add(Layout.gap + text) }
        return row.cut(to: layout.width)
    }

    private func addBar(_ width: Int, to row: inout Row, _ style: DisplayStyle) {
        row.add(Layout.gap)
        guard let fraction = progress.fraction else { return row.add(String(repeating: " ", count: width)) }
        let (done, rest) = style.bar(fraction, width: width)
        row.add(done, end == .cancelled ? .red : .green)
        row.add(rest, .dim)
    }

    /// A line of words instead of the bar.
    private func ending(_ word: String, _ colour: Row.Colour?, _ reason: String, _ layout: Layout) -> Row {
        let room = max(8, layout.width / 3)
        var row = Row()
        row.add(DisplayWidth.abridged(name, to: max(min(layout.nameWidth, room), 1), layout.style.gap))
        row.add(Layout.gap + word, colour)
        row.add(reason)
        return row.cut(to: layout.width)
    }

    /// The progress or outcome, in four columns.
    private func mark(_ layout: Layout) -> String {
        let text =
            switch end {
            case .well: "done"
            case .cancelled: "stop"
            case .failed: "fail"
            case .unneeded: "kept"
            case nil:
                isWaiting ? "wait" : percent.map { "\($0)%" } ?? (isOver ? "" : layout.style.spinner(at: layout.time))
            }
        return DisplayWidth.padded(text, to: 4, atStart: true)
    }

    fileprivate var rate: String {
        guard end != nil || isOver else { return RateText(progress.bytesPerSecond).description }
        let since = moved ?? Moved(bytes: 0, at: start)
        guard latest - since.at >= .milliseconds(1) else { return "" }
        return RateText((Double(progress.wireBytes) - Double(since.bytes)) / ((latest - since.at) / .seconds(1)))
            .description
    }

    fileprivate var time: String {
        TimeText(end != nil || isOver ? elapsed : progress.timeLeft).description
    }

    fileprivate var bytes: String {
        if isWaiting { return "" }
        let count = ByteCount(progress.wireBytes).description
        guard end == nil, let total = progress.totalBytes else { return count }
        return "\(count)/\(ByteCount(total))"
    }
}

/// The fields for which there is room, and the widths of those that can be shortened.
private struct Fields {
    var name: Int
    var bar = 0
    var rest: [String] = []

    private static let smallestName = 8
    private static let smallestBar = 8
    private static let widestBar = 40
    private static let markWidth = 4

    init(_ line: BarLine, _ layout: Layout) {
        let gap = Layout.gap.count
        let bytes = DisplayWidth.padded(line.bytes, to: ByteCount.width * 2 + 1, atStart: true)
        let rate = DisplayWidth.padded(line.rate, to: RateText.width, atStart: true)
        let time = DisplayWidth.padded(line.time, to: TimeText.width, atStart: true)
        let choices = [[bytes, rate, time], [rate, time], [time], []]
        let room = layout.width - gap - Self.markWidth
        let name = min(layout.nameWidth, Self.smallestName)
        // A name without a bar is the last choice, which always fits.
        for rest in choices {
            let left = room - rest.reduce(0) { $0 + $1.count + gap }
            guard left >= name + gap + Self.smallestBar else { continue }
            self.rest = rest
            let share = max(name, min(layout.nameWidth, left / 5 * 2 + left % 5 * 2 / 5))
            bar = min(left - share - gap, Self.widestBar)
            self.name = min(layout.nameWidth, left - bar - gap)
            return
        }
        self.name = max(0, min(layout.nameWidth, room))
    }
}

// MARK: - Where lines cannot be drawn over

extension BarLine {
    var plain: String {
        let bytes = progress.totalBytes.map { "\(ByteCount(progress.wireBytes)) of \(ByteCount($0))" }
        let count = ByteCount(progress.wireBytes).description
        switch end {
        case .failed(let reason): return "\(name): failed: \(reason)"
        case .unneeded(let reason): return "\(name): kept: \(reason)"
        case .cancelled: return "\(name): stopped after \(count)"
        case .well: return "\(name): done, \(count)" + (time.isEmpty ? "" : " in \(time)")
        case nil: break
        }
        var parts = [percent.map { "\($0)%" }, bytes ?? count].compactMap(\.self)
        if !rate.isEmpty { parts.append(rate) }
        if !time.isEmpty, !isOver { parts.append("\(time) left") }
        return "\(name): " + parts.joined(separator: ", ")
    }

    /// The progress in tenths, or in doublings of the bytes without a total.
    var milestone: Int {
        if let fraction = progress.fraction { return Int(fraction * 10) }
        return progress.wireBytes.bitWidth - progress.wireBytes.leadingZeroBitCount
    }
}
