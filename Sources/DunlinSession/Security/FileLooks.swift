internal import DunlinReactor
internal import Synchronization

/// Looks at files for those who ask for their present contents, on a disk thread.
///
/// Rules:
/// 1. There is one look at a time, so a disk that hangs holds up one thread.
/// 2. Whoever asks gets what a look has found that began afterwards. All who asked before it began share it.
/// 3. While a look takes longer than `limit`, whoever asks gets what was found before. Nobody else waits for it.
final class FileLooks<Found: Sendable>: Sendable {
    typealias Answer = @Sendable (Found) -> Void

    private struct State {
        var waiting: [Answer] = []
        /// When the present look began; nil if there is none.
        var begun: ContinuousClock.Instant?
    }

    private enum Step {
        case begin
        case wait
        case answer
    }

    private let state = Mutex(State())
    private let limit: Duration

    init(limit: Duration = .seconds(1)) {
        self.limit = limit
    }

    /// Calls `answer` with what `look` finds or, while another look hangs, with `former`. It may be
    /// called before this returns.
    func ask(_ look: @escaping @Sendable () -> Found, meanwhile former: Found, _ answer: @escaping Answer) {
        let step: Step = state.withLock { state in
            if let begun = state.begun, begun.duration(to: .now) > limit { return .answer }
            state.waiting.append(answer)
            if state.begun != nil { return .wait }
            state.begun = .now
            return .begin
        }
        switch step {
        case .answer: answer(former)
        case .wait: break
        case .begin: DiskThreads.shared.start { self.run(look) }
        }
    }

    private func run(_ look: () -> Found) {
        while true {
            let answers = next()
            if answers.isEmpty { return }
            let found = look()
            for answer in answers { answer(found) }
        }
    }

    /// Those for whom a look begins now; nobody if all looks are done.
    private func next() -> [Answer] {
        state.withLock { state in
            defer { state.waiting = [] }
            state.begun = state.waiting.isEmpty ? nil : .now
            return state.waiting
        }
    }
}
