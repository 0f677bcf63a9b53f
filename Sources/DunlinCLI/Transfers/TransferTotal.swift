import Dunlin
import DunlinDisplay

/// Adds up what several transfers are at. The rate counts what this run has moved, in the last seconds.
struct TransferTotal {
    private let display: TotalDisplay?
    private var sum: TransferSum
    /// The transfers that run or wait.
    private var running: Set<Int>
    /// The bytes of each when they were first seen: what an earlier run brought, which counts for no rate.
    private var former: [Int: Int] = [:]
    private var endedBytes = 0
    private var endedFormer = 0
    private var samples: [(bytes: Int, at: ContinuousClock.Instant)] = []

    private static let window = Duration.seconds(3)

    init(of count: Int, on display: TerminalDisplay?) {
        self.display = display.map { TotalDisplay("total", on: $0) }
        sum = TransferSum(count: count)
        running = Set(0..<count)
    }

    var isShown: Bool { display != nil }

    /// The time between two frames.
    static func tick() async {
        do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
    }

    /// `isFailure` is nil for a transfer that was stopped.
    mutating func end(_ index: Int, _ progress: HTTPSession.TransferProgress, isFailure: Bool?) {
        running.remove(index)
        if isFailure != nil { sum.finished += 1 }
        if isFailure == true { sum.failed += 1 }
        endedBytes += progress.wireBytes
        endedFormer += former.removeValue(forKey: index) ?? 0
    }

    mutating func show(_ progress: (Int) -> HTTPSession.TransferProgress) {
        guard let display else { return }
        var (bytes, old, fractions) = (endedBytes, endedFormer, Double(sum.finished))
        for index in running {
            let step = progress(index)
            if step.totalBytes != nil, former[index] == nil { former[index] = step.wireBytes }
            bytes += step.wireBytes
            old += former[index] ?? step.wireBytes
            fractions += step.fraction ?? 0
        }
        sum.bytes = bytes
        sum.fraction = sum.count == 0 ? 1 : fractions / Double(sum.count)
        sum.bytesPerSecond = rate(bytes - old, at: .now)
        display.show(sum)
    }

    private mutating func rate(_ bytes: Int, at now: ContinuousClock.Instant) -> Double? {
        samples.append((bytes, now))
        while samples.count > 2, samples[1].at < now - Self.window { samples.removeFirst() }
        guard let first = samples.first, now - first.at >= .milliseconds(300) else { return nil }
        return max(0, Double(bytes - first.bytes)) / ((now - first.at) / .seconds(1))
    }
}
