/// Decides when activity is shown, and when it is hidden again.
///
/// Rules:
/// 1. There are four states. Work that begins is shown only if there still is work after `delays.activation`; what
///    happens meanwhile has no effect, so short requests never flicker. A look between two requests less than a `gap`
///    apart counts as seeing work.
/// 2. Work that ends is hidden only if no more has begun within `delays.completion` of its end, whenever the look is.
///    Work that began and ended between two looks counts as seen.
/// 3. When disabled, the state is `notActive` whatever work there is; enabling looks at the current work.
/// 4. Each wait has a number: the end of a wait that was cancelled has no effect.
/// 5. While work is shown, either the sessions are asked to report the next end, or there is a rest after which they
///    are asked, which finds ends that were not reported. So thousands of requests cause at most twenty looks a second.
///
/// It must know neither clocks nor what the work is.
struct ActivityMachine {
    enum Action: Equatable {
        case none
        /// Call `waited` after this time, instead of any earlier wait.
        case wait(Duration, number: UInt64)
        case stopWaiting
        /// Show activity; there is no wait any more.
        case show
        /// Hide activity; there is no wait any more.
        case hide
    }

    /// What one look found.
    struct Work: Equatable {
        /// Whether there is work now.
        var goesOn = false
        /// Whether some has ended since the last look.
        var hasEnded = false
        /// How long ago the last work ended, if there is none now; nil if that is not known.
        var idleTime: Duration?
    }

    /// A time that is longer than it takes to make the next request after a response, and too short to see.
    static var gap: Duration { .milliseconds(5) }

    /// The rest between looks. A look costs about as much as a request, so twenty a second are negligible, and the time
    /// of an unreported end is still known.
    static var restTime: Duration { .milliseconds(50) }

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

    /// Handles a look after work may have begun or ended.
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

    /// Whether the wait with this number was not cancelled.
    func isWaiting(_ number: UInt64) -> Bool { number == lastWait }

    /// Handles the end of the wait with this number.
    mutating func waited(_ number: UInt64, _ work: Work) -> Action {
        guard isWaiting(number) else { return .none }
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

    /// What the next look asks the sessions to report. `isQuick` says that the work that began during the wait for the
    /// end was over when it was looked at; such work is not worth a ring each time, since the end of the wait looks
    /// again.
    func news(isRested: Bool, isQuick: Bool = false) -> News {
        switch state {
        case .notActive: .arrival
        case .delayingStart: .nothing
        case .active: isRested ? .end : .nothing
        case .delayingEnd: isQuick ? .nothing : .arrival
        }
    }

    /// Begins the rest after a look that asked for no report while work is shown.
    mutating func rest() -> Action { wait(Self.restTime) }

    private mutating func wait(afterEnd work: Work) -> Action {
        wait(max(.zero, delays.completion - (work.idleTime ?? .zero)))
    }

    private mutating func wait(_ time: Duration) -> Action {
        lastWait += 1
        return .wait(time, number: lastWait)
    }
}
