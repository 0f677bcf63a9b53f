/// When work that goes on is shown, and when it is hidden again.
///
/// Rules:
/// 1. Four states. Work that begins is shown only if there is still some after `delays.activation`; what happens
///    meanwhile changes nothing, so that short requests never flicker.
/// 2. Work that ends is hidden only if none has come for `delays.completion`.
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

    var delays = ActivityMonitor.Delays()
    private(set) var state = ActivityMonitor.State.notActive
    private(set) var isEnabled = false
    private var lastWait: UInt64 = 0

    /// Whether work is shown.
    var isVisible: Bool { state == .active || state == .delayingEnd }

    mutating func enable(isBusy: Bool) -> Action {
        isEnabled = true
        return look(isBusy: isBusy)
    }

    mutating func disable() -> Action {
        isEnabled = false
        let action: Action = isVisible ? .hide : state == .delayingStart ? .stopWaiting : .none
        lastWait += 1
        state = .notActive
        return action
    }

    /// Something may have begun or ended.
    mutating func look(isBusy: Bool) -> Action {
        switch (state, isBusy) {
        case (.notActive, true) where isEnabled:
            state = .delayingStart
            return wait(delays.activation)
        case (.active, false):
            state = .delayingEnd
            return wait(delays.completion)
        case (.delayingEnd, true):
            state = .active
            lastWait += 1
            return .stopWaiting
        case (.notActive, _), (.delayingStart, _), (.active, true), (.delayingEnd, false):
            return .none
        }
    }

    /// The wait with this number is over.
    mutating func waited(_ number: UInt64, isBusy: Bool) -> Action {
        guard number == lastWait else { return .none }
        switch state {
        case .delayingStart:
            state = isBusy ? .active : .notActive
            return isBusy ? .show : .none
        case .delayingEnd:
            if isBusy { return look(isBusy: true) }
            state = .notActive
            return .hide
        case .notActive, .active:
            return .none
        }
    }

    private mutating func wait(_ time: Duration) -> Action {
        lastWait += 1
        return .wait(time, number: lastWait)
    }
}
