internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Looks after one request from its registration to its end: where it stands, and how to hold or stop it.
///
/// Where it stands is under a lock and not in the actor's own state: a cancel handler must reach it now, and the hot
/// path cannot afford the job switch that entering an actor takes.
public actor TaskDelegate {
    public nonisolated let id = TaskID.next()
    public nonisolated let kind: HTTPSession.TaskKind
    public nonisolated let method: Method
    /// The target as the caller wrote it, values left out.
    public nonisolated let template: String
    /// Felt by whatever the request waits for.
    nonisolated let interrupt: Interrupt
    /// What the request has of its own.
    nonisolated let settings: RequestSettings?
    private nonisolated let initialPriority: RequestPriority
    nonisolated let created: MonotonicTime
    /// Where the request runs.
    nonisolated let loop: Reactor
    private nonisolated let machine: Mutex<TaskMachine>

    init(
        _ kind: HTTPSession.TaskKind, _ method: Method, _ template: String, _ settings: RequestSettings?,
        priority: RequestPriority, on loop: Reactor
    ) {
        (self.kind, self.method, self.template) = (kind, method, template)
        self.settings = settings
        self.loop = loop
        created = loop.now()
        initialPriority = priority
        machine = Mutex(TaskMachine())
        interrupt = Interrupt()
    }

    /// Looks after one call.
    static func of(_ call: HTTPSession.Call, _ advisor: SessionAdvisor) -> TaskDelegate {
        TaskDelegate(
            call.kind, call.head.method, call.template, .of(call, advisor), priority: call.options.priority,
            on: call.loop)
    }

    /// For one of several exchanges of one request: stopped with it, or alone. Nobody else ever sees this one.
    init(partOf whole: TaskDelegate, isFirst: Bool = false) {
        (kind, method, template) = (whole.kind, whole.method, whole.template)
        (created, initialPriority, loop) = (whole.created, whole.priority, whole.loop)
        settings = RequestSettings(partOf: whole)
        machine = Mutex(TaskMachine())
        interrupt = Interrupt(partOf: whole.interrupt, isFirst: isFirst)
    }

    /// All share one. Nothing here is isolated, and an executor of its own would be half of what a delegate weighs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.common.unownedExecutor }

    private actor Common {}
    private static let common = Common()

    public nonisolated var label: String? { settings?.options.label }

    public nonisolated var tags: Set<String> { settings?.options.tags ?? [] }

    /// Who wants to know of it, beside its caller.
    nonisolated var audience: Audience? { settings?.audience }

    /// Those that must have ended before this request begins.
    nonisolated var predecessors: [TaskID] { settings?.options.after ?? [] }

    /// Who goes first when requests wait for their turn or for a connection.
    public nonisolated var priority: RequestPriority { audience?.watch.standing.priority ?? initialPriority }

    /// Counts at once, also where the request waits already. False if nobody was there to watch this request when it
    /// began, which changes nothing then.
    @discardableResult
    public nonisolated func setPriority(_ priority: RequestPriority) -> Bool {
        guard let audience else { return false }
        audience.watch.standing.setPriority(priority)
        return true
    }

    /// Stops the request wherever it is; it fails with `NetworkError` code `cancelled`. Harmless when it is over.
    public nonisolated func cancel() {
        cancel(.handle)
    }

    nonisolated func cancel(_ cause: Interrupt.Cause) {
        interrupt.cancel(cause)
        audience?.watch.stop()
    }

    /// Holds the request where it is: nothing more is sent or read, and the limits of `firstByte`, `idle` and `send` do
    /// not go on. Holding it twice is holding it once. False if that changed nothing, or if nobody was there to watch
    /// this request when it began: one that was made through a handle can be held.
    @discardableResult
    public nonisolated func suspend() -> Bool {
        guard let audience, audience.watch.suspend() else { return false }
        audience.tasks?.noteHold(true)
        audience.events.tell(.suspended(snapshot(at: audience.watch.now())))
        return true
    }

    /// Lets the request go on, however often it was suspended; false if that changed nothing.
    @discardableResult
    public nonisolated func resume() -> Bool {
        guard let audience, audience.watch.resume() else { return false }
        audience.tasks?.noteHold(false)
        audience.events.tell(.resumed(snapshot(at: audience.watch.now())))
        return true
    }

    /// Whether it moves or waits for its turn. Opening a connection ahead of need is no request.
    nonisolated var isActive: Bool { kind != .opening && audience?.watch.isHeld != true }

    nonisolated func begin() -> Bool {
        settings?.whole?.begin() ?? machine.withLock { $0.begin() }
    }

    /// Between two attempts.
    nonisolated func pause() -> Bool {
        settings?.whole?.pause() ?? machine.withLock { $0.pause() }
    }

    nonisolated func end(_ end: TaskMachine.State) {
        machine.withLock { _ = $0.end(end) }
    }

    nonisolated func snapshot(at now: MonotonicTime) -> TaskSnapshot {
        let state = machine.withLock { $0.state }.told(isHeld: audience?.watch.isHeld == true)
        var phase: Phase?
        switch state {
        case .running: phase = interrupt.phase
        case .waiting where interrupt.phase == .pool: phase = .pool
        case .waiting, .waitingToRetry, .suspended, .over: break
        }
        return TaskSnapshot(
            id: id, kind: kind, method: method, template: template, label: label, tags: tags,
            priority: priority, state: state, phase: phase, age: now.duration(since: created))
    }
}

extension TaskMachine.State {
    /// What is told of it.
    func told(isHeld: Bool) -> TaskSnapshot.State {
        switch self {
        case .finished, .failed, .cancelled: .over
        case .waiting: isHeld ? .suspended : .waiting
        case .running(let hop): isHeld ? .suspended : .running(hop: hop)
        case .pausing(let hop): isHeld ? .suspended : .waitingToRetry(hop: hop)
        }
    }
}
