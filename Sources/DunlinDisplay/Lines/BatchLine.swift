internal import Dunlin

/// Several transfers together: how many of them are over, how many failed, how much they moved, and how fast.
struct BatchLine: Equatable, Sendable {
    let name: String
    private var finished = 0
    private var failed = 0
    private var total = 0
    private var bytes = 0
    private var fraction = 0.0
    /// The rate in bytes a second; nil if nobody measures it.
    private var rate: Double?

    init(name: String, progress: HTTPSession.BatchProgress? = nil) {
        self.name = name
        guard let progress else { return }
        (finished, failed, total) = (progress.finished, progress.failed, progress.total)
        (bytes, fraction) = (progress.receivedBytes, progress.fraction)
    }

    init(name: String, _ sum: TransferSum) {
        self.name = name
        (finished, failed, total) = (sum.finished, sum.failed, sum.count)
        (bytes, fraction, rate) = (sum.bytes, sum.fraction, sum.bytesPerSecond)
    }

    func row(_ layout: Layout) -> Row {
        let count = "\(finished)/\(total)"
        let failures = failed == 0 ? "" : "\(failed) failed"
        let gap = Layout.gap.count
        let fixed = gap + count.count + (failures.isEmpty ? 0 : failures.count + gap)
        var row = Row()
        let name = max(0, min(layout.nameWidth, max((layout.width - fixed) * 2 / 5, min(8, layout.width - fixed))))
        row.add(DisplayWidth.padded(DisplayWidth.abridged(self.name, to: name, layout.style.gap), to: name))
        let left = layout.width - fixed - name - gap
        let rest = amounts(left - gap - Self.smallestBar)
        let bar = min(40, left - rest.reduce(0) { $0 + $1.count + gap })
        if bar >= Self.smallestBar {
            let (done, rest) = layout.style.bar(fraction, width: bar)
            row.add(Layout.gap)
            row.add(done, .green)
            row.add(rest, .dim)
        }
        row.add(Layout.gap + count)
        for text in rest { row.add(Layout.gap + text) }
        if !failures.isEmpty { row.add(Layout.gap + failures, .red) }
        return row.cut(to: layout.width)
    }

    private static let smallestBar = 8

    /// The bytes and the rate, as far as there is room beside the smallest bar.
    private func amounts(_ room: Int) -> [String] {
        let bytes = DisplayWidth.padded(ByteCount(bytes).description, to: ByteCount.width, atStart: true)
        let rate = rate.map { DisplayWidth.padded(RateText($0).description, to: RateText.width, atStart: true) }
        let choices = [[bytes, rate].compactMap(\.self), [rate ?? bytes]]
        return choices.first { $0.reduce(0) { $0 + $1.count + Layout.gap.count } <= room + Layout.gap.count } ?? []
    }

    var plain: String {
        var text = "\(name): \(finished) of \(total)"
        if failed > 0 { text += ", \(failed) failed" }
        return text + ", \(ByteCount(bytes))"
    }

    var milestone: Int { Int(fraction * 10) }
}
