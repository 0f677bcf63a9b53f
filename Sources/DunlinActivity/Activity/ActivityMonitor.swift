/// Says whether there is work worth showing: on when requests have gone on for a while, off when there have been none
/// for a moment. For spinners, log lines and gauges.
///
/// ```swift
/// let monitor = ActivityMonitor.shared
/// await monitor.follow(client)
/// await monitor.enable()
/// for await isActive in await monitor.changes { lamp.isOn = isActive }
/// ```
///
/// What goes on is read from the sessions' registries each time, never counted up and down: a request that is
/// suspended, cancelled and completed leaves nothing behind. Sessions and tokens only ring, and the monitor looks.
/// It asks for one ring at a time, and while there is work to show twenty times a second at most: requests by the
/// thousand do not wake it, and cost no more than they do without it. While there is none it waits, without a timer,
/// for one to come.
///
/// It does not keep the sessions.
public actor ActivityMonitor {
    public enum State: Sendable, Hashable, CaseIterable {
        /// Nothing is shown.
        case notActive
        /// There is work, which is shown if it lasts.
        case delayingStart
        /// Work is shown.
        case active
        /// There is none any more, which is shown if it stays so.
        case delayingEnd
    }

    public struct Delays: Sendable, Hashable {
        /// How long there must be work before it is shown.
        public var activation: Duration
        /// How long there must be none before it is hidden.
        public var completion: Duration

        public init(activation: Duration = .seconds(1), completion: Duration = .milliseconds(170)) {
            self.activation = activation
            self.completion = completion
        }
    }

    /// One for the whole program. Nobody enables it unasked.
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
    /// The last that asks the sessions something.
    private var last: Task<Void, Never>?
    /// How many tokens had ended at the last look.
    private var endedTokens: UInt64 = 0

    /// How long it does not ask to be rung when work that is shown may end soon. Looking costs about as much as a
    /// request: twenty looks a second are nothing, and where an end was not heard of its time is known.
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

    /// Counts for what begins or ends from now on.
    public var delays: Delays { machine.delays }

    public func setDelays(_ delays: Delays) {
        machine.delays = delays
    }

    /// Whether there is work to show: as it is now, then every change, until the monitor is let go of.
    public var changes: AsyncStream<Bool> {
        let (stream, observer) = AsyncStream<Bool>.makeStream()
        lastObserver += 1
        let id = lastObserver
        observers[id] = observer
        observer.onTermination = { [weak self] _ in
            Task { await self?.forget(id) }
        }
        observer.yield(isActive)
        return stream
    }

    private func forget(_ observer: UInt64) {
        observers[observer] = nil
    }

    /// Where activity is shown from now on, instead of any former place; nil for none.
    public func display(on display: (any ActivityMonitor.Display)?) {
        if isActive { self.currentDisplay?.activityChanged(to: false) }
        self.currentDisplay = display
        if isActive { display?.activityChanged(to: true) }
    }

    /// The same with a closure, which is told of every change, one after the other, and must not wait.
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
    /// Looks at what goes on, and from then on whenever that may have changed.
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
        looking = Task { [weak self, rings] in
            for await _ in rings { await self?.inTurn { await $0.look() } }
        }
    }

    /// Hides what is shown, and looks no more.
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

    /// Shows them no more.
    public func unfollow(_ session: HTTPSession) async {
        await inTurn { monitor in
            await monitor.sessions.removeValue(forKey: ObjectIdentifier(session.core))?.unfollow()
            await monitor.look()
        }
    }

    /// One after the other: the sessions are asked, which takes time, and what one look finds must not be taken for
    /// what goes on once another has found something else.
    private func inTurn(_ work: @escaping @Sendable (isolated ActivityMonitor) async -> Void) async {
        let before = last
        let task = Task {
            await before?.value
            await work(self)
        }
        last = task
        await task.value
    }

    /// Work that no session knows of goes on until the token is ended or let go of.
    public nonisolated func beginActivity() -> ActivityMonitor.Token {
        ActivityMonitor.Token(ledger)
    }

    /// The same for as long as `work` takes.
    public nonisolated func withActivity<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        let token = beginActivity()
        defer { token.end() }
        return try await work()
    }

    /// What goes on now, and what ended since the last look. Sessions ring for what is asked for; tokens ring anyway.
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

    /// What the next ring is to be for.
    private func news(isRested: Bool) -> News {
        switch machine.state {
        case .notActive, .delayingEnd: .arrival
        case .delayingStart: .nothing
        case .active: isRested ? .end : .nothing
        }
    }

    /// Somebody rang, or it has rested.
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
            monitor.act(monitor.machine.waited(number, await monitor.work(andThen: .nothing)))
            await monitor.look(isRested: true)
        }
    }

    private func rest() {
        guard resting == nil else { return }
        let pause = Self.pause(Self.rest, clock)
        resting = Task { [weak self] in
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
            waiting = Task { [weak self] in
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
