/// Decides when activity is shown, and when it is hidden again.
///
/// Rules:
/// 1. There are four states. Work that begins is shown only if there is still some after `delays.activation`; what
///    happens meanwhile changes nothing, so that short requests never flicker. A look between two requests that follow
///    each other at once, less than a `gap` apart, counts as seeing work.
/// 2. Work that ends is hidden only if none has come for `delays.completion`, counted from its end, whenever the look
///    is. Work that came and ended between two looks counts as if it had been seen.
/// 3. Disabled means `notActive`, whatever work there is; enabling looks at the work there is then.
/// 4. Each wait has a number: the end of a wait that was given up has no effect.
/// 5. While work is shown, either the sessions are asked to tell of the next end, or there is a rest, after which they
///    are asked: an end that nobody tells of is found then. So thousands of requests bring at most twenty looks a
///    second.
///
/// It must know neither clocks nor what the work is.
struct ActivityMachine {
    enum Action: Equatable {
        case none
        /// Call `waited` when that much time has passed, instead of any former wait.
        case wait(Duration, number: UInt64)
        case stopWaiting
        /// No wait goes on, either.
        case show
        /// No wait goes on, either.
        case hide
    }

    /// What one look finds.
    struct Work: Equatable {
        /// Whether there is work now.
        var goesOn = false
        /// Whether some has ended since the last look.
        var hasEnded = false
        /// How long ago the last of it ended, if there is none now; nil if that is not known.
        var idleTime: Duration?
    }

    /// A time longer than it takes to make the next request after a response, and shorter than anybody sees.
    static var gap: Duration { .milliseconds(5) }

    /// A look costs about as much as a request: twenty looks a second are nothing, and the time of an end that nobody
    /// told of is known.
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

    /// Whether the wait with this number has not been given up.
    func isWaiting(_ number: UInt64) -> Bool { number == lastWait }

    /// The wait with this number is over.
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

    /// What the next look asks the sessions to tell. `isQuick` says that what came while the end was waited for had
    /// ended when it was looked at, which is not worth a ring each: the end of the wait looks again.
    func news(isRested: Bool, isQuick: Bool = false) -> News {
        switch state {
        case .notActive: .arrival
        case .delayingStart: .nothing
        case .active: isRested ? .end : .nothing
        case .delayingEnd: isQuick ? .nothing : .arrival
        }
    }

    /// Begins the rest after a look that has asked for nothing while work is shown.
    mutating func rest() -> Action { wait(Self.restTime) }

    private mutating func wait(afterEnd work: Work) -> Action {
        wait(max(.zero, delays.completion - (work.idleTime ?? .zero)))
    }

    private mutating func wait(_ time: Duration) -> Action {
        lastWait += 1
        return .wait(time, number: lastWait)
    }
}
