/// Measures how fast something grows, smoothed for people, who cannot read a figure that jumps with every packet.
///
/// Each step counts the more the longer it took, against a memory of three seconds. The meter knows no clock.
struct RateMeter {
    private static let memory: Double = 3

    private var last: (count: Int, at: MonotonicTime)?
    /// Per second; nil until two points are known.
    private(set) var rate: Double?

    mutating func note(_ count: Int, at now: MonotonicTime) {
        guard let before = last else {
            last = (count, now)
            return
        }
        let seconds = Double(now.nanoseconds - before.at.nanoseconds) / 1e9
        // Two notes at the same time are one: the later one is counted with the next.
        guard seconds > 0 else { return }
        let step = Double(count - before.count) / seconds
        let weight = seconds / (seconds + Self.memory)
        rate = rate.map { $0 + (step - $0) * weight } ?? step
        last = (count, now)
    }
}
