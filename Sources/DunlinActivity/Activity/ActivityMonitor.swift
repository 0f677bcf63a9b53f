/// An observer that says whether to show activity: it turns on when requests have run for a while, and off when there
/// have been none for a moment. Use it for spinners, log lines and gauges.
///
/// ```swift
/// let monitor = ActivityMonitor.shared
/// await monitor.follow(client)
/// await monitor.enable()
/// for await isActive in await monitor.changes { lamp.isOn = isActive }
/// ```
///
/// The state is read from the sessions' registries each time and never counted up and down, so no request can leave it
/// wrong. Sessions and tokens only signal, and the monitor looks. It asks for one signal at a time, and at most twenty
/// times a second while there is work to show: thousands of requests do not wake it more often. Without work it waits
/// for a signal, without a timer.
///
/// It does not retain the sessions.
public actor ActivityMonitor {
    /// The monitor that the whole program shares. It shows nothing until you enable it.
    public static let shared = ActivityMonitor()

    private let clock: any Clock<Duration>
    nonisolated let ledger: ActivityLedger
    private var machine = ActivityMachine()
    /// The wait that is on, and what ends it.
    private var alarm: (number: UInt64, task: Task<Void, Never>)?
    private var sessions: [ObjectIdentifier: FollowedSession] = [:]
    private var observers: [UInt64: AsyncStream<Bool>.Continuation] = [:]
    private var lastObserver: UInt64 = 0
    private var display: (@Sendable (Bool) -> Void)?
    /// The number of tokens that had ended at the last look.
    private var endedTokens: UInt64 = 0

    public init(delays: Delays = Delays(), clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        let (events, continuation) = AsyncStream<ActivityEvent>.makeStream()
        ledger = ActivityLedger(continuation)
        machine.delays = delays
        // The task ends with the stream, when the monitor is released.
        Task.detached { [weak self] in
            for await event in events {
                if case .left(let sessions) = event { for var followed in sessions { await followed.unfollow() } }
                await self?.take(event)
            }
        }
    }

    deinit {
        alarm?.task.cancel()
        ledger.events.yield(.left(Array(sessions.values)))
        ledger.events.finish()
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

    /// Whether there is work to show: the current state, then each change, until the monitor is released.
    public var changes: AsyncStream<Bool> {
        let (stream, observer) = AsyncStream<Bool>.makeStream()
        lastObserver += 1
        observers[lastObserver] = observer
        observer.onTermination = { [events = ledger.events, id = lastObserver] _ in events.yield(.forget(id)) }
        observer.yield(isActive)
        return stream
    }

    /// Shows activity on this display from now on instead of an earlier one; nil for none.
    public func display(on display: (any ActivityMonitor.Display)?) {
        guard let display else { return replaceDisplay(nil) }
        replaceDisplay { display.activityChanged(to: $0) }
    }

    /// Calls a closure with every change, one after another. It must not wait.
    public func display(on change: @escaping @Sendable (_ isActive: Bool) -> Void) {
        replaceDisplay(change)
    }

    private func replaceDisplay(_ display: (@Sendable (Bool) -> Void)?) {
        if isActive { self.display?(false) }
        self.display = display
        if isActive { display?(true) }
    }

    private func tell(_ isActive: Bool) {
        display?(isActive)
        for observer in observers.values { observer.yield(isActive) }
    }
}

// MARK: - What goes on

extension ActivityMonitor {
    /// Looks at the current work, and from then on whenever it may have changed.
    public func enable() async {
        await inTurn { monitor in
            guard !monitor.isEnabled else { return }
            monitor.endedTokens = monitor.ledger.tally.ended
            monitor.machine.enable()
            await monitor.look()
        }
    }

    /// Hides activity and stops looking.
    public func disable() async {
        act(machine.disable())
        await inTurn { monitor in
            if monitor.isEnabled { return }
            for (id, var followed) in monitor.sessions {
                await followed.unfollow()
                monitor.sessions[id] = followed
            }
        }
    }

    /// Shows the requests of this session, too.
    public func follow(_ session: HTTPSession) async {
        await inTurn { await $0.replace(session.core, by: FollowedSession(session.core)) }
    }

    /// Stops showing the requests of this session.
    public func unfollow(_ session: HTTPSession) async {
        await inTurn { await $0.replace(session.core, by: nil) }
    }

    private func replace(_ session: SessionCore, by followed: FollowedSession?) async {
        var former = sessions[ObjectIdentifier(session)]
        sessions[ObjectIdentifier(session)] = followed
        await former?.unfollow()
        await look()
    }

    /// Begins work that no session knows of. It lasts until the token is ended or released.
    public nonisolated func beginActivity() -> ActivityMonitor.Token {
        ActivityMonitor.Token(ledger)
    }

    /// Shows activity for as long as `work` takes.
    public nonisolated func withActivity<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        let token = beginActivity()
        defer { token.end() }
        return try await work()
    }
}

// MARK: - One after the other

extension ActivityMonitor {
    /// Runs this after everything that came before. Asking the sessions takes time, and the result of one look must not
    /// replace that of a later one.
    private func inTurn(_ work: @escaping ActivityEvent.Work) async {
        await withCheckedContinuation { _ = ledger.events.yield(.work(work, $0)) }
    }

    private func take(_ event: ActivityEvent) async {
        switch event {
        case .ring:
            ledger.hear()
            await look()
        case .work(let work, let waiter):
            await work(self)
            waiter.resume()
        // Looking for a cancelled wait would take ends away from the next look.
        case .waited(let number) where number == alarm?.number:
            stopWaiting()
            if state != .active { act(machine.waited(number, await work(andThen: .nothing))) }
            await look(isRested: true)
        case .forget(let observer): observers[observer] = nil
        case .waited, .left: break
        }
    }

    /// Looks again until the requested reports are the ones needed.
    private func look(isRested: Bool = false) async {
        guard isEnabled else { return }
        var (asked, isQuick) = (News.nothing, false)
        repeat {
            asked = machine.news(isRested: isRested, isQuick: isQuick)
            let isEnding = state == .delayingEnd
            let work = await work(andThen: asked)
            act(machine.look(work))
            isQuick = isQuick || (isEnding && work.hasEnded)
        } while asked != machine.news(isRested: isRested, isQuick: isQuick)
        guard state == .active else { return }
        if asked == .end { stopWaiting() } else if alarm == nil { act(machine.rest()) }
    }

    /// The current work, and whether some ended since the last look. Sessions ring for what is requested; tokens always
    /// ring.
    private func work(andThen news: News) async -> ActivityMachine.Work {
        let tokens = ledger.tally
        let hasEnded = tokens.ended != endedTokens
        endedTokens = tokens.ended
        // The token's ring was just heard, so its end was just now.
        var work = ActivityMachine.Work(goesOn: tokens.isBusy, hasEnded: hasEnded, idleTime: hasEnded ? .zero : nil)
        for (id, var followed) in sessions {
            let found = await followed.look(for: work.goesOn ? .nothing : news, ledger)
            sessions[id] = found == nil ? nil : followed
            if let found { work.add(found) }
        }
        return work
    }

    private func act(_ action: ActivityMachine.Action) {
        if action == .none { return }
        stopWaiting()
        switch action {
        case .none, .stopWaiting: break
        case .show: tell(true)
        case .hide: tell(false)
        case .wait(let time, let number): alarm = (number, waited(time, by: clock, number))
        }
    }

    private func stopWaiting() {
        alarm?.task.cancel()
        alarm = nil
    }

    /// The wait counts from now, whenever its task begins.
    private func waited<C: Clock<Duration>>(_ time: Duration, by clock: C, _ number: UInt64) -> Task<Void, Never> {
        let end = clock.now.advanced(by: time.clamped)
        return Task.detached { [events = ledger.events] in
            do { try await clock.sleep(until: end, tolerance: nil) } catch { return }
            events.yield(.waited(number))
        }
    }
}
