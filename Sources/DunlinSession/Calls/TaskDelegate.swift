package import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Looks after one request: a call is a method of its delegate, from the first wait to the end.
///
/// It lives on the request's loop, and what the request comes to on its way is isolated to it. What must count at once,
/// wherever it is said, is not: the switch that stops the request, and the watch that holds it.
public actor TaskDelegate {
    public nonisolated let id = HTTPSession.TaskID.next()
    public nonisolated let kind: HTTPSession.TaskKind
    public nonisolated let method: HTTP.Method
    /// The target as the caller wrote it, values left out.
    public nonisolated let targetTemplate: String
    /// Felt by whatever the request waits for.
    package nonisolated let cancellation = Cancellation()
    /// What the request has of its own.
    package nonisolated let settings: RequestSettings?
    private nonisolated let initialPriority: HTTP.Priority
    nonisolated let created: MonotonicTime
    /// Where the request is listed.
    nonisolated let book: TaskBook
    /// Where it runs. Held by the delegate, so that whoever calls one finds its executor there.
    nonisolated let loop: Reactor

    private var machine = TaskMachine() {
        didSet { told.store(machine.state.code, ordering: .relaxed) }
    }
    /// Where the request stands, for those who look on from elsewhere.
    private nonisolated let told = Atomic<Int>(TaskMachine.State.waiting.code)
    private var hasToldOfWait = false

    package init(_ call: HTTPSession.Call) {
        (kind, method, targetTemplate) = (call.kind, call.head.method, call.targetTemplate)
        settings = .of(call)
        initialPriority = call.options.priority
        (book, loop) = (call.book, call.loop)
        created = loop.now()
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    public nonisolated var label: String? { settings?.options.label }

    public nonisolated var tags: Set<String> { settings?.options.tags ?? [] }

    /// Who wants to know of it, beside its caller.
    nonisolated var observers: RequestObservers? { settings?.observers }

    /// Those that must have ended before this request begins.
    nonisolated var predecessors: [HTTPSession.TaskID] { settings?.options.startsAfter ?? [] }
}

// MARK: - At once, from anywhere

extension TaskDelegate {
    /// Who goes first when requests wait for their turn or for a connection.
    public nonisolated var priority: HTTP.Priority { observers?.control.queueStatus.priority ?? initialPriority }

    /// Counts at once, also where the request waits already. False if nobody was there to watch this request when it
    /// began, which changes nothing then.
    @discardableResult
    public nonisolated func setPriority(_ priority: HTTP.Priority) -> Bool {
        guard let observers else { return false }
        observers.control.queueStatus.setPriority(priority)
        return true
    }

    /// Stops the request wherever it is; it fails with `NetworkError` code `cancelled`. Harmless when it is over.
    public nonisolated func cancel() {
        cancel(.handle)
    }

    nonisolated func cancel(_ cause: Cancellation.Cause) {
        cancellation.cancel(cause)
        observers?.control.stop()
    }

    /// Holds the request where it is: nothing more is sent or read, and the limits of `firstByte`, `idle` and `send` do
    /// not go on. Holding it twice is holding it once. False if that changed nothing, or if nobody was there to watch
    /// this request when it began: one that was made through a handle can be held.
    @discardableResult
    public nonisolated func suspend() -> Bool {
        guard let observers, observers.control.suspend() else { return false }
        book.noteHold(true)
        observers.events.tell(.suspended(snapshot(at: loop.now())))
        return true
    }

    /// Lets the request go on, however often it was suspended; false if that changed nothing.
    @discardableResult
    public nonisolated func resume() -> Bool {
        guard let observers, observers.control.resume() else { return false }
        book.noteHold(false)
        observers.events.tell(.resumed(snapshot(at: loop.now())))
        return true
    }

    /// Whether it moves or waits for its turn. Opening a connection ahead of need is no request.
    nonisolated var isActive: Bool { kind != .preconnect && observers?.control.isSuspended != true }

    nonisolated func snapshot(at now: MonotonicTime) -> HTTPSession.TaskSnapshot {
        let stand = TaskMachine.State(code: told.load(ordering: .relaxed))
        let state = stand.told(isSuspended: observers?.control.isSuspended == true)
        var phase: HTTP.Phase?
        switch state {
        case .running: phase = cancellation.phase
        case .waiting where cancellation.phase == .pool: phase = .pool
        case .waiting, .waitingToRetry, .suspended, .over: break
        }
        return HTTPSession.TaskSnapshot(
            id: id, kind: kind, method: method, targetTemplate: targetTemplate, label: label, tags: tags,
            priority: priority, state: state, phase: phase, age: now.duration(since: created))
    }
}

// MARK: - On its way

extension TaskDelegate {
    /// It is about to be sent, for the first time or again; false if it is over.
    func begin() -> Bool { machine.begin() }

    /// Between two attempts.
    func pause() { _ = machine.pause() }

    func end(_ end: TaskMachine.State) { _ = machine.end(end) }

    /// True once: a request that waits for a network is told of no second time.
    func mayTellOfWait() -> Bool {
        defer { hasToldOfWait = true }
        return !hasToldOfWait
    }
}

extension TaskMachine.State {
    /// What is told of it.
    func told(isSuspended: Bool) -> HTTPSession.TaskSnapshot.State {
        switch self {
        case .finished, .failed, .cancelled: .over
        case .waiting: isSuspended ? .suspended : .waiting
        case .running(let hop): isSuspended ? .suspended : .running(hop: hop)
        case .pausing(let hop): isSuspended ? .suspended : .waitingToRetry(hop: hop)
        }
    }
}

// MARK: - In one word

extension TaskMachine.State {
    /// The state as a number.
    fileprivate var code: Int {
        switch self {
        case .waiting: 0
        case .finished: 1
        case .failed: 2
        case .cancelled: 3
        case .running(let hop): 4 + 2 * hop
        case .pausing(let hop): 5 + 2 * hop
        }
    }

    fileprivate init(code: Int) {
        switch code {
        case 0: self = .waiting
        case 1: self = .finished
        case 2: self = .failed
        case 3: self = .cancelled
        default: self = code % 2 == 0 ? .running(hop: (code - 4) / 2) : .pausing(hop: (code - 5) / 2)
        }
    }
}
