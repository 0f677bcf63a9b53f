/// When work that goes on is shown, and when it is hidden again.
///
/// Rules:
/// 1. Four states. Work that begins is shown only if there is still some after `delays.activation`; what happens
///    meanwhile changes nothing, so that short requests never flicker. Who looks between two requests that follow each
///    other at once, less than a `gap` apart, has seen work.
/// 2. Work that ends is hidden only if none has come for `delays.completion`, counted from its end, whenever somebody
///    looks. What came and ended between two looks counts as if it had been seen.
/// 3. Disabled means `notActive`, whatever goes on; enabling looks at what goes on then.
/// 4. Each wait has a number: one that was given up means nothing when it ends after all.
///
/// Must not know: clocks, and what the work is.
struct ActivityMachine {
    enum Action: Equatable {
        case none
        /// Say so when that much time has passed, instead of any former wait.
        case wait(Duration, number: UInt64)
        case stopWaiting
        /// No wait goes on, either.
        case show
        /// No wait goes on, either.
        case hide
    }

    /// What is seen at one look.
    struct Work: Equatable {
        /// There is some now.
        var goesOn = false
        /// Some has ended since the last look.
        var hasEnded = false
        /// How long ago the last of it ended, if none goes on; nil if that is not known.
        var idleTime: Duration?
    }

    /// Longer than it takes to make the next request after a response, and shorter than anybody sees.
    static var gap: Duration { .milliseconds(5) }

    var delays = ActivityMonitor.Delays()
    private(set) var state = ActivityMonitor.State.notActive
    private(set) var isEnabled = false
    private var lastWait: UInt64 = 0

    /// Whether work is shown.
    var isVisible: Bool { state == .active || state == .delayingEnd }

    mutating func enable() {
        isEnabled = true
    }

    mutating func disable() -> Action {
        isEnabled = false
        let action: Action = isVisible ? .hide : state == .delayingStart ? .stopWaiting : .none
        lastWait += 1
        state = .notActive
        return action
    }

    /// Something may have begun or ended.
    mutating func look(_ work: Work) -> Action {
        switch (state, work.goesOn) {
        case (.notActive, _) where isEnabled && (work.goesOn || work.hasEnded):
            state = .delayingStart
            return wait(delays.activation)
        case (.active, false):
            state = .delayingEnd
            return wait(afterEnd: work)
        case (.delayingEnd, true):
            state = .active
            lastWait += 1
            return .stopWaiting
        case (.delayingEnd, false) where work.hasEnded:
            return wait(afterEnd: work)
        case (.notActive, _), (.delayingStart, _), (.active, true), (.delayingEnd, false):
            return .none
        }
    }

    /// The wait with this number is over.
    mutating func waited(_ number: UInt64, _ work: Work) -> Action {
        guard number == lastWait else { return .none }
        switch state {
        case .delayingStart:
            let isBusy = work.goesOn || work.idleTime.map { $0 < Self.gap } ?? false
            state = isBusy ? .active : .notActive
            return isBusy ? .show : .none
        case .delayingEnd:
            if work.goesOn || work.hasEnded { return look(work) }
            state = .notActive
            return .hide
        case .notActive, .active:
            return .none
        }
    }

    private mutating func wait(afterEnd work: Work) -> Action {
        wait(max(.zero, delays.completion - (work.idleTime ?? .zero)))
    }

    private mutating func wait(_ time: Duration) -> Action {
        lastWait += 1
        return .wait(time, number: lastWait)
    }
}
