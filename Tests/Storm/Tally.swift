import Synchronization

/// How everything ended: outcomes by name, and what should not have happened.
final class Tally: Sendable, CustomStringConvertible {
    private struct State {
        var outcomes: [String: Int] = [:]
        var violations: [String] = []
        var violationCount = 0
        /// How many there were of each kind that was named.
        var kinds: [String: Int] = [:]
        var notes: [String] = []
        var elapsed: Duration = .zero
    }

    let seed: UInt64
    private let state = Mutex(State())
    /// Grows with every request that ends: what the watchdog looks at.
    let progress = Atomic<Int>(0)

    init(seed: UInt64) {
        self.seed = seed
    }

    func count(_ outcome: String) {
        state.withLock { $0.outcomes[outcome, default: 0] += 1 }
        progress.add(1, ordering: .relaxed)
    }

    /// Something that no faulty excuses. The first few are kept, and of a kind the first two.
    func violation(_ text: String, of kind: String? = nil) {
        state.withLock { state in
            state.violationCount += 1
            if let kind {
                state.kinds[kind, default: 0] += 1
                if state.kinds[kind, default: 0] <= 2 { state.violations.append(text) }
            } else if state.violations.count < 20 {
                state.violations.append(text)
            }
        }
    }

    func note(_ text: String) { state.withLock { $0.notes.append(text) } }

    var elapsed: Duration {
        get { state.withLock { $0.elapsed } }
        set { state.withLock { $0.elapsed = newValue } }
    }

    var isClean: Bool { state.withLock { $0.violationCount == 0 } }

    var description: String {
        state.withLock { state in
            let total = state.outcomes.values.reduce(0, +)
            var lines = ["seed \(seed), \(total) requests, \(state.elapsed)"]
            for (name, count) in state.outcomes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
                lines.append("\(String(repeating: " ", count: max(0, 9 - "\(count)".count)))\(count)  \(name)")
            }
            lines += state.notes
            lines += state.violations.map { "VIOLATION: \($0)" }
            for (kind, count) in state.kinds.sorted(by: { $0.key < $1.key }) { lines.append("\(count) times \(kind)") }
            lines.append("\(state.violationCount) violations")
            return lines.joined(separator: "\n")
        }
    }
}
