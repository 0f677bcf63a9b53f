internal import Dunlin

/// A batch: how many of its requests are over, how many failed, and how much they brought.
struct BatchLine: Equatable, Sendable {
    let name: String
    var progress: HTTPSession.BatchProgress?

    private var finished: Int { progress?.finished ?? 0 }
    private var total: Int { progress?.total ?? 0 }

    func row(_ layout: Layout) -> Row {
        let count = "\(finished)/\(total)"
        let failures = progress.map { $0.failed == 0 ? "" : "\($0.failed) failed" } ?? ""
        let bytes = DisplayWidth.padded(
            ByteCount(progress?.receivedBytes ?? 0).description, to: ByteCount.width, atStart: true)
        let gap = Layout.gap.count
        let fixed = gap + count.count + (failures.isEmpty ? 0 : failures.count + gap)
        var row = Row()
        let name = max(0, min(layout.nameWidth, max((layout.width - fixed) * 2 / 5, min(8, layout.width - fixed))))
        row.add(DisplayWidth.padded(DisplayWidth.abridged(self.name, to: name, layout.style.gap), to: name))
        let left = layout.width - fixed - name - gap
        let hasBytes = left >= bytes.count + gap + 8
        let bar = min(40, left - (hasBytes ? bytes.count + gap : 0))
        if bar >= 8 {
            let (done, rest) = layout.style.bar(progress?.fraction ?? 0, width: bar)
            row.add(Layout.gap)
            row.add(done, .green)
            row.add(rest, .dim)
        }
        row.add(Layout.gap + count)
        if hasBytes { row.add(Layout.gap + bytes) }
        if !failures.isEmpty { row.add(Layout.gap + failures, .red) }
        return row.cut(to: layout.width)
    }

    var plain: String {
        var text = "\(name): \(finished) of \(total)"
        if let progress, progress.failed > 0 { text += ", \(progress.failed) failed" }
        return text + ", \(ByteCount(progress?.receivedBytes ?? 0))"
    }

    var milestone: Int { Int((progress?.fraction ?? 0) * 10) }
}
