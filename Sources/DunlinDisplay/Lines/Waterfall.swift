public import Dunlin

/// Where the time of a request went, as lines of text: a bar for each phase of each hop, on one axis of time.
///
/// ```swift
/// let response = try await client.get("users/42", as: .string)
/// for line in Waterfall(response.metrics).lines(width: 80) { print(line) }
/// ```
///
/// A heavy bar is time in which something was done, a light one is time that was spent waiting: for a connection, and
/// for the response to begin. A hop says how long each of its phases took, and they are drawn one after another, in
/// their order. A phase that took no visible part of the time still has one column.
public struct Waterfall: Sendable, Hashable {
    private let hops: [HTTP.Hop]

    public init(_ metrics: HTTPSession.Metrics) {
        hops = metrics.hops
    }

    /// Creates the waterfall of some hops, in the order in which they began.
    public init(_ hops: [HTTP.Hop]) {
        self.hops = hops
    }

    /// The lines, none of them wider than `width` columns, which is taken as at least 40. There is none without hops.
    public func lines(width: Int, style: DisplayStyle = .environment) -> [String] {
        if hops.isEmpty { return [] }
        let axis = Axis(hops, columns: max(Self.leastWidth, width) - Axis.margin)
        let rows = hops.flatMap { hop in
            [Self.heading(of: hop)] + axis.rows(of: hop, style)
        }
        return (rows + [axis.scale(style)]).map {
            $0.cut(to: max(Self.leastWidth, width)).text(inColour: style.hasColour)
        }
    }

    /// One line for each hop instead of one for each phase: its phases one after another, on an axis of `columns` for
    /// all hops. A hop that took no visible part of the time still has one column, its phases perhaps none.
    package func bars(columns: Int, style: DisplayStyle) -> [String] {
        let axis = Axis(hops, columns: max(1, columns))
        return hops.map { axis.bar(of: $0, style).text(inColour: style.hasColour) }
    }

    private static let leastWidth = 40

    private static func heading(of hop: HTTP.Hop) -> Row {
        var text = "\(hop.isConnectionReused ? "reused" : "new") connection \(hop.connection)"
        if let peer = hop.peer { text += " to \(peer)" }
        if let proxy = hop.proxy { text += " (\(ShownText.of(proxy)))" }
        var row = Row()
        row.add(text + ", \(hop.total.readable)")
        return row
    }
}

/// The axis that the bars of all hops share.
private struct Axis {
    /// The columns before the bars: a phase's name and its duration.
    static let margin = 2 + nameWidth + 2 + durationWidth + 2
    private static let nameWidth = 9
    private static let durationWidth = 8

    /// When the first hop began, in nanoseconds.
    private let origin: Int64
    /// Nanoseconds from there to the end of the last phase.
    private let length: Int64
    private let columns: Int

    init(_ hops: [HTTP.Hop], columns: Int) {
        self.columns = columns
        let origin = hops.map(\.started.nanoseconds).min() ?? 0
        self.origin = origin
        let ends = hops.map { hop in
            hop.started.nanoseconds.subtractingClamped(origin)
                .addingClamped(max(hop.total.clampedNanoseconds, hop.phaseTime))
        }
        length = max(1, ends.max() ?? 1)
    }

    private func start(of hop: HTTP.Hop) -> Int64 { hop.started.nanoseconds.subtractingClamped(origin) }

    func bar(of hop: HTTP.Hop, _ style: DisplayStyle) -> Row {
        var (row, time) = (Row(), start(of: hop))
        row.add(blanks(min(column(of: time), columns - 1)))
        let before = row.width
        for phase in HTTP.Phase.allCases where hop[phase] > 0 {
            time = time.addingClamped(hop[phase])
            let count = max(0, min(column(of: time), columns) - row.width)
            row.add(String(repeating: phase.mark(style), count: count), phase.isWaiting ? .dim : phase.colour)
        }
        if row.width == before { row.add(HTTP.Phase.receive.mark(style), HTTP.Phase.receive.colour) }
        return row
    }

    func rows(of hop: HTTP.Hop, _ style: DisplayStyle) -> [Row] {
        var time = start(of: hop)
        return HTTP.Phase.allCases.filter { hop[$0] > 0 }.map { phase in
            let begin = time
            time = time.addingClamped(hop[phase])
            return row(phase, begin..<time, style)
        }
    }

    /// The times in numbers: 0, the middle and the end.
    func scale(_ style: DisplayStyle) -> Row {
        let (middle, end) = (Duration.nanoseconds(length / 2).readable, Duration.nanoseconds(length).readable)
        let before = max(1, columns / 2 - 1 - middle.count / 2)
        let between = max(1, columns - 1 - before - middle.count - end.count)
        var row = Row()
        row.add(blanks(Self.margin) + "0" + blanks(before) + middle + blanks(between) + end, .dim)
        return row
    }

    private func row(_ phase: HTTP.Phase, _ time: Range<Int64>, _ style: DisplayStyle) -> Row {
        let start = min(column(of: time.lowerBound), columns - 1)
        let end = max(start + 1, column(of: time.upperBound))
        let duration = Duration.nanoseconds(time.upperBound - time.lowerBound).readable
        var row = Row()
        row.add("  " + DisplayWidth.padded(phase.rawValue, to: Self.nameWidth) + "  ")
        row.add(DisplayWidth.padded(duration, to: Self.durationWidth, atStart: true) + "  " + blanks(start))
        row.add(String(repeating: phase.mark(style), count: end - start), phase.isWaiting ? .dim : phase.colour)
        return row
    }

    /// The nearest boundary between two columns.
    private func column(of time: Int64) -> Int {
        Int((Double(time) / Double(length) * Double(columns)).rounded())
    }

    private func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }
}

extension HTTP.Hop {
    fileprivate var phaseTime: Int64 { HTTP.Phase.allCases.reduce(0) { $0.addingClamped(max(0, self[$1])) } }
}

extension HTTP.Phase {
    /// Whether nothing is done in this phase but waiting for others.
    fileprivate var isWaiting: Bool { self == .pool || self == .firstByte }

    /// One colour for what opens a connection, one for what passes over it.
    fileprivate var colour: Row.Colour {
        switch self {
        case .pool, .resolve, .connect, .proxyTLS, .tunnel, .tls: .cyan
        case .send, .firstByte, .receive: .green
        }
    }

    fileprivate func mark(_ style: DisplayStyle) -> String {
        isWaiting ? (style.hasUnicode ? "─" : "-") : (style.hasUnicode ? "━" : "=")
    }
}
