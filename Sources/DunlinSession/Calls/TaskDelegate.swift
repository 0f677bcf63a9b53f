package import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Runs one call and holds its state: a call is a method of its delegate, from the first wait to the end.
///
/// It lives on the call's loop, and the call's state is isolated to it. What must take effect at once, from any thread,
/// is not isolated: the cancellation and the control that suspends.
public actor TaskDelegate {
    public nonisolated let id = HTTPSession.TaskID.next()
    package nonisolated let kind: HTTPSession.TaskKind
    package nonisolated let method: HTTP.Method
    /// The target as the caller wrote it, values left out.
    package nonisolated let targetTemplate: String
    /// The call's switch: everything the call waits for ends when it is cancelled.
    package nonisolated let cancellation = Cancellation()
    /// The request's own settings; nil for most.
    package nonisolated let settings: RequestSettings?
    private nonisolated let initialPriority: HTTP.Priority
    nonisolated let created: HTTP.Instant
    /// The book that lists the call.
    nonisolated let book: TaskBook
    /// The loop the call runs on. The delegate keeps it, so that its executor lives as long as the delegate.
    nonisolated let loop: Reactor

    private var machine = TaskMachine() {
        didSet { told.store(machine.state.code, ordering: .relaxed) }
    }
    /// The state, for readers on other threads.
    private nonisolated let told = Atomic<Int>(TaskMachine.State.waiting.code)
    private var hasToldOfWait = false
    /// The call on its way, from its delivery's beginning to its end.
    private var state = CallState()
    /// How often the call was sent, and each of its parts that has a number.
    private var sendings = SendingMachine()
    private var partSendings: [Int: SendingMachine] = [:]

    package init(_ call: HTTPSession.Call) {
        (kind, method, targetTemplate) = (call.kind, call.head.method, call.targetTemplate)
        settings = .of(call)
        initialPriority = call.options.priority
        (book, loop) = (call.book, call.loop)
        created = loop.now()
    }

    @_documentation(visibility: internal)
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package nonisolated var label: String? { settings?.options.label }

    package nonisolated var tags: Set<String> { settings?.options.tags ?? [] }

    /// Those who observe it, beside its caller.
    nonisolated var observers: RequestObservers? { settings?.observers }

    /// The calls that must have ended before this one begins.
    nonisolated var predecessors: [HTTPSession.TaskID] { settings?.options.startsAfter ?? [] }
}

// MARK: - At once, from anywhere

extension TaskDelegate {
    /// The order in which requests that wait for their turn or for a connection are served.
    public nonisolated var priority: HTTP.Priority { observers?.control.queueStatus.priority ?? initialPriority }

    /// The state of the request now.
    public nonisolated var snapshot: HTTPSession.TaskSnapshot { snapshot(at: loop.now()) }

    /// Changes the priority at once, also while the request waits. False if the request had no observers when it began;
    /// then nothing changes.
    @discardableResult
    public nonisolated func setPriority(_ priority: HTTP.Priority) -> Bool {
        guard let observers else { return false }
        observers.control.queueStatus.setPriority(priority)
        return true
    }

    /// Cancels the request wherever it is; it fails with `NetworkError` code `cancelled`. Has no effect when it is
    /// over.
    public nonisolated func cancel() {
        cancel(.handle)
    }

    nonisolated func cancel(_ cause: Cancellation.Cause) {
        cancellation.cancel(cause)
        observers?.control.stop()
    }

    /// Suspends the request: nothing more is sent or read, and the limits of `firstByte`, `readIdle` and `send` are
    /// paused. Suspending it twice is suspending it once. False if that changed nothing, or if the request had no
    /// observers when it began; a request that was made through a handle can always be suspended.
    @discardableResult
    public nonisolated func suspend() -> Bool {
        guard let observers else { return false }
        return observers.telling(.suspended(snapshot(at: loop.now(), isSuspended: true))) { note in
            let isNew = observers.control.suspend(noting: note)
            if isNew { book.noteSuspension(true) }
            return isNew
        }
    }

    /// Resumes the request, however often it was suspended; false if that changed nothing.
    @discardableResult
    public nonisolated func resume() -> Bool {
        guard let observers else { return false }
        return observers.telling(.resumed(snapshot(at: loop.now(), isSuspended: false))) { note in
            let isNew = observers.control.resume(noting: note)
            if isNew { book.noteSuspension(false) }
            return isNew
        }
    }

    /// Whether it is not suspended. Opening a connection ahead of need is no request, and never active.
    nonisolated var isActive: Bool { kind != .preconnect && observers?.control.isSuspended != true }

    nonisolated func snapshot(at now: HTTP.Instant) -> HTTPSession.TaskSnapshot {
        snapshot(at: now, isSuspended: observers?.control.isSuspended == true)
    }

    /// How often it has been sent, with the present exchange; 1 before the first.
    nonisolated var hop: Int {
        switch TaskMachine.State(code: told.load(ordering: .relaxed)) {
        case .running(let hop), .pausing(let hop): max(1, hop)
        case .waiting, .finished, .failed, .cancelled: 1
        }
    }

    private nonisolated func snapshot(at now: HTTP.Instant, isSuspended: Bool) -> HTTPSession.TaskSnapshot {
        let stand = TaskMachine.State(code: told.load(ordering: .relaxed))
        let state = stand.told(isSuspended: isSuspended)
        var phase: HTTP.Phase?
        switch state {
        case .running: phase = cancellation.phase
        case .waiting where cancellation.phase == .pool: phase = .pool
        case .waiting, .waitingToRetry, .suspended, .over: break
        }
        return HTTPSession.TaskSnapshot(
            id: id, kind: kind, method: method, targetTemplate: targetTemplate, label: label, tags: tags,
            priority: priority, state: state, phase: phase, age: now.duration(since: created),
            record: .init(record: observers?.recorded.record))
    }
}

// MARK: - On its way

extension TaskDelegate {
    /// How a sending stands, between its beginning and its end.
    package subscript(id: SendingID) -> LiveCall { state[id] }

    /// Reads some of how a sending stands; the rest is not copied for that.
    @inline(__always)
    func read<Value>(_ id: SendingID, _ read: (LiveCall) -> Value) -> Value { state.read(id, read) }

    /// Changes how a sending stands; what has ended stays as it was.
    package func change(_ id: SendingID, _ change: (inout LiveCall) -> Void) {
        state.change(id, change)
    }

    /// The call begins to be sent.
    func begin(main call: LiveCall) { state.begin(main: call) }

    /// A sending beside the call begins, which whoever began it ends.
    func begin(_ call: LiveCall) -> SendingID { state.begin(call) }

    /// As of the call, with all its parts.
    package var hasSentOnlyGETs: Bool { read(.main) { $0.hasSentOnlyGETs } }

    /// Whether all that was sent of the call may be sent again, once it is over.
    package var isRepeatable: Bool { !state.sentRequests.call.contains(.notRepeatable) }

    /// It has ended. Returns how it stood.
    @discardableResult
    func end(_ id: SendingID) -> LiveCall? { state.end(id) }

    /// Says that it, or a part of it, is about to be sent, for the first time or again. Returns how often that was, if
    /// that may be too often; throws if the call is over.
    func begin(_ why: SendingReason?, part: Int?) throws -> SendingMachine? {
        guard machine.begin() else { throw NetworkError(.cancelled, "the request has already ended") }
        let sendings = count(part) { $0.begin(why) }
        // What is not counted is not refused either.
        return why == .network ? nil : sendings
    }

    /// Says that it was sent again where `begin` is not asked, and returns the same.
    @discardableResult
    func add(_ why: SendingReason, part: Int?) -> SendingMachine? {
        count(part) { $0.add(why) }
    }

    private func count(_ part: Int?, _ event: (inout SendingMachine) -> Void) -> SendingMachine? {
        guard let part else {
            event(&sendings)
            return sendings.count > 0 ? sendings : nil
        }
        event(&partSendings[part, default: SendingMachine()])
        return partSendings[part].flatMap { $0.count > 0 ? $0 : nil }
    }

    /// What was counted last is refused. Returns what was sent.
    func refuse(part: Int?) -> SendingMachine {
        guard let part else {
            sendings.refuse()
            return sendings
        }
        partSendings[part]?.refuse()
        return partSendings[part] ?? SendingMachine()
    }

    /// Something of the download, or of one of its parts, has come since it was sent: it is counted anew.
    package func progressed(part: Int?) {
        if let part { partSendings[part] = nil } else { sendings.progressed() }
    }

    /// Says that it waits between two attempts.
    func pause() { _ = machine.pause() }

    func end(_ end: TaskMachine.State) { _ = machine.end(end) }

    /// True once: that a request waits for a network is reported only the first time.
    func mayTellOfWait() -> Bool {
        defer { hasToldOfWait = true }
        return !hasToldOfWait
    }
}

extension TaskMachine.State {
    /// The state as a snapshot shows it.
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
