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
/// While it is enabled, the requests of a session that it follows are told of as they are to a listener of `events`;
/// one that is not enabled costs them nothing.
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
    private var listeners: [UInt64: AsyncStream<Bool>.Continuation] = [:]
    private var lastListener: UInt64 = 0
    private var display: (any ActivityDisplay)?
    private var waiting: Task<Void, Never>?
    private var looking: Task<Void, Never>?

    public init(delays: Delays = Delays(), clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.rings = rings
        ledger = ActivityLedger(bell)
        machine.delays = delays
    }

    deinit {
        waiting?.cancel()
        looking?.cancel()
        for session in sessions.values { session.ignore() }
        for listener in listeners.values { listener.finish() }
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
        let (stream, listener) = AsyncStream<Bool>.makeStream()
        lastListener += 1
        let id = lastListener
        listeners[id] = listener
        listener.onTermination = { [weak self] _ in
            Task { await self?.forget(id) }
        }
        listener.yield(isActive)
        return stream
    }

    private func forget(_ listener: UInt64) {
        listeners[listener] = nil
    }

    /// Where activity is shown from now on, instead of any former place; nil for none.
    public func show(on display: (any ActivityDisplay)?) {
        if isActive { self.display?.activityChanged(to: false) }
        self.display = display
        if isActive { display?.activityChanged(to: true) }
    }

    /// The same with a closure, which is told of every change, one after the other, and must not wait.
    public func show(on change: @escaping @Sendable (_ isActive: Bool) -> Void) {
        show(on: ActivityClosure(change: change))
    }

    private func tell(_ isActive: Bool) {
        display?.activityChanged(to: isActive)
        for listener in listeners.values { listener.yield(isActive) }
    }
}

// MARK: - What goes on

extension ActivityMonitor {
    /// Looks at what goes on, and from then on at every change of it.
    public func enable() {
        guard !isEnabled else { return }
        for id in sessions.keys { sessions[id]?.listen(ledger.bell) }
        if looking == nil {
            looking = Task { [weak self, rings] in
                for await _ in rings { await self?.look() }
            }
        }
        act(machine.enable(isBusy: isBusy))
    }

    /// Hides what is shown, and looks no more.
    public func disable() {
        for id in sessions.keys { sessions[id]?.ignore() }
        act(machine.disable())
    }

    /// Shows the requests of this session too.
    public func follow(_ session: HTTPSession) {
        let id = ObjectIdentifier(session)
        sessions[id]?.ignore()
        sessions[id] = FollowedSession(session)
        guard isEnabled else { return }
        sessions[id]?.listen(ledger.bell)
        look()
    }

    /// Shows them no more.
    public func ignore(_ session: HTTPSession) {
        sessions.removeValue(forKey: ObjectIdentifier(session))?.ignore()
        look()
    }

    /// Work that no session knows of goes on until the token is ended or let go of.
    public nonisolated func beginActivity() -> ActivityToken {
        ActivityToken(ledger)
    }

    /// The same for as long as `work` takes.
    public nonisolated func withActivity<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        let token = beginActivity()
        defer { token.end() }
        return try await work()
    }

    private var isBusy: Bool {
        if ledger.isBusy { return true }
        for (id, session) in sessions {
            guard let tasks = session.tasks else {
                sessions.removeValue(forKey: id)?.ignore()
                continue
            }
            guard let task = tasks.anyActive else { continue }
            sessions[id]?.awaitEnd(of: task, in: tasks, ledger.bell)
            return true
        }
        return false
    }

    private func look() {
        guard isEnabled else { return }
        act(machine.look(isBusy: isBusy))
    }

    private func waited(_ number: UInt64) {
        act(machine.waited(number, isBusy: isBusy))
    }

    private func act(_ action: ActivityMachine.Action) {
        if action == .none { return }
        waiting?.cancel()
        waiting = nil
        switch action {
        case .none, .stopWaiting: break
        case .show: tell(true)
        case .hide: tell(false)
        case .wait(let time, let number):
            waiting = Task { [weak self, clock] in
                do { try await clock.sleep(for: time) } catch { return }
                await self?.waited(number)
            }
        }
    }
}
