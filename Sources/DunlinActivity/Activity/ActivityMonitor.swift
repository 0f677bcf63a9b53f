/// Says whether there is activity worth showing: on when requests have run for a while, off when there have been none
/// for a moment. For spinners, log lines and gauges.
///
/// ```swift
/// let monitor = ActivityMonitor.shared
/// await monitor.follow(client)
/// await monitor.enable()
/// for await isActive in await monitor.changes { lamp.isOn = isActive }
/// ```
///
/// The state is read from the sessions' registries each time, never counted up and down: a request that is suspended,
/// cancelled and completed leaves nothing behind. Sessions and tokens only ring, and the monitor looks. It asks for one
/// ring at a time, and while there is work to show at most twenty times a second: thousands of requests do not wake it
/// more often. While there is none it waits, without a timer, for one to come.
///
/// It does not keep the sessions.
public actor ActivityMonitor {
    public enum State: Sendable, Hashable, CaseIterable {
        /// Nothing is shown.
        case notActive
        /// There is work, which will be shown if it lasts.
        case delayingStart
        /// Work is shown.
        case active
        /// There is none any more, which will be shown if it stays so.
        case delayingEnd
    }

    public struct Delays: Sendable, Hashable {
        /// How long there must be work before it is shown.
        public var activation: Duration
        /// How long there must be no work before it is hidden.
        public var completion: Duration

        public init(activation: Duration = .seconds(1), completion: Duration = .milliseconds(170)) {
            self.activation = activation
            self.completion = completion
        }
    }

    /// One monitor for the whole program. It shows nothing until you enable it.
    public static let shared = ActivityMonitor()

    private let clock: any Clock<Duration>
    private nonisolated let ledger: ActivityLedger
    private let rings: AsyncStream<Void>
    private var machine = ActivityMachine()
    private var sessions: [ObjectIdentifier: FollowedSession] = [:]
    private var observers: [UInt64: AsyncStream<Bool>.Continuation] = [:]
    private var lastObserver: UInt64 = 0
    private var currentDisplay: (any ActivityMonitor.Display)?
    private var waiting: Task<Void, Never>?
    private var resting: Task<Void, Never>?
    private var looking: Task<Void, Never>?
    /// The last task that asks the sessions something.
    private var last: Task<Void, Never>?
    /// How many tokens had ended at the last look.
    private var endedTokens: UInt64 = 0

    /// How long it does not ask for a ring when work that is shown may end soon. A look costs about as much as a
    /// request: twenty looks a second are nothing, and the time of an end that was not announced is known.
    private static let rest = Duration.milliseconds(50)

    public init(delays: Delays = Delays(), clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.rings = rings
        ledger = ActivityLedger(bell)
        machine.delays = delays
    }

    deinit {
        waiting?.cancel()
        resting?.cancel()
        looking?.cancel()
        for observer in observers.values { observer.finish() }
    }
}

// MARK: - What is shown

extension ActivityMonitor {
    public var state: State { machine.state }

    /// Whether there is work to show.
    public var isActive: Bool { machine.isVisible }

    public var isEnabled: Bool { machine.isEnabled }

    /// The delays for work that begins or ends from now on.
    public var delays: Delays { machine.delays }

    public func setDelays(_ delays: Delays) {
        machine.delays = delays
    }

    /// Whether there is work to show: the state now, then each change, until the monitor is released.
    public var changes: AsyncStream<Bool> {
        let (stream, observer) = AsyncStream<Bool>.makeStream()
        lastObserver += 1
        let id = lastObserver
        observers[id] = observer
        observer.onTermination = { [weak self] _ in
            Task.detached { await self?.forget(id) }
        }
        observer.yield(isActive)
        return stream
    }

    private func forget(_ observer: UInt64) {
        observers[observer] = nil
    }

    /// Shows activity on this display from now on, instead of any former one; nil for none.
    public func display(on display: (any ActivityMonitor.Display)?) {
        if isActive { self.currentDisplay?.activityChanged(to: false) }
        self.currentDisplay = display
        if isActive { display?.activityChanged(to: true) }
    }

    /// Tells a closure of every change, one after the other; it must not wait.
    public func display(on change: @escaping @Sendable (_ isActive: Bool) -> Void) {
        display(on: ActivityClosure(change: change))
    }

    private func tell(_ isActive: Bool) {
        currentDisplay?.activityChanged(to: isActive)
        for observer in observers.values { observer.yield(isActive) }
    }
}

// MARK: - What goes on

extension ActivityMonitor {
    /// Looks at the work there is, and from then on whenever it may have changed.
    public func enable() async {
        await inTurn { monitor in
            guard !monitor.isEnabled else { return }
            for followed in monitor.sessions.values { await followed.listen(monitor.ledger.bell) }
            monitor.listen()
            monitor.endedTokens = monitor.ledger.tally.ended
            monitor.machine.enable()
            await monitor.look()
        }
    }

    private func listen() {
        guard looking == nil else { return }
        looking = Task.detached { [weak self, rings] in
            for await _ in rings { await self?.inTurn { await $0.look() } }
        }
    }

    /// Hides activity, and looks no more.
    public func disable() async {
        act(machine.disable())
        endRest()
        await inTurn { monitor in
            if monitor.isEnabled { return }
            for followed in monitor.sessions.values { await followed.unfollow() }
        }
    }

    /// Shows the requests of this session too.
    public func follow(_ session: HTTPSession) async {
        await inTurn { monitor in
            let id = ObjectIdentifier(session.core)
            await monitor.sessions[id]?.unfollow()
            let followed = FollowedSession(session.core)
            monitor.sessions[id] = followed
            guard monitor.isEnabled else { return }
            await followed.listen(monitor.ledger.bell)
            await monitor.look()
        }
    }

    /// Stops showing the requests of this session.
    public func unfollow(_ session: HTTPSession) async {
        await inTurn { monitor in
            await monitor.sessions.removeValue(forKey: ObjectIdentifier(session.core))?.unfollow()
            await monitor.look()
        }
    }

    /// Runs one task after the other. Asking the sessions takes time, and the findings of one look must not replace
    /// those of a later one.
    private func inTurn(_ work: @escaping @Sendable (isolated ActivityMonitor) async -> Void) async {
        let before = last
        let task = Task.detached {
            await before?.value
            await work(self)
        }
        last = task
        await task.value
    }

    /// Begins work that no session knows of; it goes on until the token is ended or released.
    public nonisolated func beginActivity() -> ActivityMonitor.Token {
        ActivityMonitor.Token(ledger)
    }

    /// Shows activity for as long as `work` takes.
    public nonisolated func withActivity<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        let token = beginActivity()
        defer { token.end() }
        return try await work()
    }

    /// The work now, and whether some ended since the last look. Sessions ring for what is asked for; tokens always
    /// ring.
    private func work(andThen news: News) async -> ActivityMachine.Work {
        let tokens = ledger.tally
        let hasEnded = tokens.ended != endedTokens
        endedTokens = tokens.ended
        // Their ring was heard: it was just now.
        var work = ActivityMachine.Work(goesOn: tokens.isBusy, hasEnded: hasEnded, idleTime: hasEnded ? .zero : nil)
        for (id, followed) in sessions {
            if let found = await followed.look(for: work.goesOn ? .nothing : news) {
                work.add(found)
            } else {
                sessions[id] = nil
            }
        }
        return work
    }

    /// What to ask the next ring for.
    private func news(isRested: Bool) -> News {
        switch machine.state {
        case .notActive, .delayingEnd: .arrival
        case .delayingStart: .nothing
        case .active: isRested ? .end : .nothing
        }
    }

    /// Looks, after a ring or a rest.
    private func look(isRested: Bool = false) async {
        guard isEnabled else { return }
        var next = news(isRested: isRested)
        var last = step(.none)
        var isQuick = false
        while true {
            let isEnding = machine.state == .delayingEnd
            let work = await work(andThen: next)
            let step = step(machine.look(work))
            if step.action != .none { last = step }
            // What comes and ends before it is looked at is not worth a ring each: the wait for the end looks again.
            isQuick = isQuick || (isEnding && work.hasEnded)
            let other = isQuick && machine.state == .delayingEnd ? .nothing : news(isRested: isRested)
            if other == next { break }
            next = other
        }
        act(last)
        if machine.state == .active, next == .nothing { rest() } else { endRest() }
    }

    private func waited(_ number: UInt64) async {
        await inTurn { monitor in
            // A look for a wait that was given up would take ends away from the look that comes next.
            guard monitor.machine.isWaiting(number) else { return }
            monitor.act(monitor.machine.waited(number, await monitor.work(andThen: .nothing)))
            await monitor.look(isRested: true)
        }
    }

    private func rest() {
        guard resting == nil else { return }
        let pause = Self.pause(Self.rest, clock)
        resting = Task.detached { [weak self] in
            do { try await pause() } catch { return }
            await self?.rested()
        }
    }

    private func rested() async {
        guard !Task.isCancelled else { return }
        await inTurn { [resting] monitor in
            guard monitor.resting == resting else { return }
            monitor.resting = nil
            await monitor.look(isRested: true)
        }
    }

    private func endRest() {
        resting?.cancel()
        resting = nil
    }

    /// What the machine says, and the wait that is part of it: it goes on from then, whenever it is waited.
    private struct Step {
        let action: ActivityMachine.Action
        let pause: @Sendable () async throws -> Void
    }

    private func step(_ action: ActivityMachine.Action) -> Step {
        guard case .wait(let time, _) = action else { return Step(action: action) {} }
        return Step(action: action, pause: Self.pause(time, clock))
    }

    private func act(_ action: ActivityMachine.Action) {
        act(step(action))
    }

    private func act(_ step: Step) {
        if step.action == .none { return }
        waiting?.cancel()
        waiting = nil
        switch step.action {
        case .none, .stopWaiting: break
        case .show: tell(true)
        case .hide: tell(false)
        case .wait(_, let number):
            let pause = step.pause
            waiting = Task.detached { [weak self] in
                do { try await pause() } catch { return }
                await self?.waited(number)
            }
        }
    }

    /// Waits that long from now on, whenever it is called.
    private static func pause<C: Clock<Duration>>(
        _ time: Duration, _ clock: C
    ) -> @Sendable () async throws -> Void {
        let end = clock.now.advanced(by: time.clamped)
        return { try await clock.sleep(until: end, tolerance: nil) }
    }
}
