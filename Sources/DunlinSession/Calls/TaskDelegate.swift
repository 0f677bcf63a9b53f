package import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// An actor that runs one call: a call is a method of its delegate, from the first wait to the end.
///
/// It runs on the call's loop. What is known of the call on its way is a local of its method, a `Sending`, which is
/// passed along with the request; only while interceptors run is it kept here. What must take effect at once from any
/// thread is not isolated: cancellation, and the control that suspends.
public actor TaskDelegate {
    public nonisolated let id = HTTPSession.TaskID.next()
    package nonisolated let kind: HTTPSession.TaskKind
    package nonisolated let method: HTTP.Method
    /// The target as the caller wrote it, without values.
    package nonisolated let targetTemplate: String
    /// Whether the program contains the template.
    private nonisolated let hasTemplate: Bool
    /// Whether the session makes the call for itself, to revalidate a stored response.
    private nonisolated let isRevalidation: Bool
    /// Cancels the call: it ends everything that the call waits for.
    package nonisolated let cancellation: Cancellation
    /// The stream of events of which this is an attempt; nil for any other call.
    nonisolated let stream: ListedStream?
    /// The request's own settings; nil for most requests.
    package nonisolated let settings: RequestSettings?
    /// What the session's `observers` want to be told of the call; nil if nothing.
    package nonisolated let observation: CallObservation?
    private nonisolated let initialPriority: HTTP.Priority
    nonisolated let created: HTTP.Instant
    /// The number of the jar whose cookies are the caller's; nil without a jar.
    nonisolated let jarNumber: String?
    /// The list that the call is on.
    nonisolated let list: TaskList
    /// The call's loop. The delegate retains it, so that its executor lives as long as the delegate.
    nonisolated let loop: Reactor

    /// The state, as a number.
    private nonisolated let state = Atomic<Int>(TaskMachine().state.code)
    /// The traits of what has been sent for the call, by whomever.
    private nonisolated let sentTraits = Atomic<UInt8>(0)
    private nonisolated let hasToldOfWait = Atomic(false)
    /// The sendings that interceptors have been lent.
    var loans: [Int: Loan] = [:]
    private var lastLoan = 0

    package init(_ call: HTTPSession.Call) { self.init(call, of: nil) }

    init(_ call: HTTPSession.Call, of stream: ListedStream?) {
        self.stream = stream
        cancellation = stream.map { Cancellation(partOf: $0.cancellation) } ?? Cancellation()
        (kind, method, targetTemplate) = (call.kind, call.head.method, call.targetTemplate)
        (hasTemplate, isRevalidation) = (call.hasTemplate, call.isRevalidation)
        settings = .of(call)
        initialPriority = call.options.priority
        (list, loop) = (call.list, call.loop)
        created = loop.now()
        jarNumber = call.jarNumber
        guard let observers = call.observers, !call.session.configuration.observers.isEmpty else {
            observation = nil
            return
        }
        observation = CallObservation(
            call.session.configuration.observers, of: call,
            HTTPSession.TaskSnapshot(
                id: id, kind: kind, method: method, targetTemplate: targetTemplate, label: call.options.label,
                operation: call.options.operation, tags: call.options.tags, priority: initialPriority,
                state: observers.control.isSuspended ? .suspended : .waiting, age: .zero, hasTemplate: hasTemplate,
                isRevalidation: isRevalidation, basePath: call.session.builder.basePath,
                record: .init(record: observers.record)))
    }

    @_documentation(visibility: internal)
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package nonisolated var label: String? { settings?.options.label }

    package nonisolated var tags: Set<String> { settings?.options.tags ?? [] }

    /// Whether it has a tag, byte for byte: tags may be the names of users.
    nonisolated func hasTag(_ tag: String) -> Bool { tags.contains { $0.hasSameBytes(as: tag) } }

    /// The call's observers, other than its caller.
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

    /// Changes the priority at once, even while the request waits. Returns false, without a change, if the request had
    /// no observers when it began.
    @discardableResult
    public nonisolated func setPriority(_ priority: HTTP.Priority) -> Bool {
        guard let observers else { return false }
        observers.control.queueStatus.setPriority(priority)
        return true
    }

    /// Cancels the request wherever it is; it fails with `NetworkError` code `cancelled`. No effect if it is over.
    public nonisolated func cancel() {
        cancel(.handle)
    }

    /// An attempt at a stream of events is cancelled with the stream.
    nonisolated func cancel(_ cause: Cancellation.Cause) {
        stream?.cancellation.cancel(cause)
        end(cause)
    }

    /// Ends what the request still does: its stream of events may go on with another attempt.
    nonisolated func end(_ cause: Cancellation.Cause) {
        cancellation.cancel(cause)
        observers?.control.stop()
    }

    /// Suspends the request: nothing more is sent or read, and the limits `firstByte`, `readIdle` and `send` are
    /// paused. Suspending it twice has the same effect as once. Returns false if nothing changed, or if the request had
    /// no observers when it began; a request made through a handle can always be suspended.
    @discardableResult
    public nonisolated func suspend() -> Bool {
        guard let observers else { return false }
        return observers.reporting(
            .suspended(snapshot(at: loop.now(), isSuspended: true)), tell: { observation?.note(.suspended) },
            { note in
                let isNew = observers.control.suspend(noting: note)
                if isNew { list.noteSuspension(true) }
                return isNew
            })
    }

    /// Resumes the request, however often it was suspended. Returns false if nothing changed.
    @discardableResult
    public nonisolated func resume() -> Bool {
        guard let observers else { return false }
        return observers.reporting(
            .resumed(snapshot(at: loop.now(), isSuspended: false)), tell: { observation?.note(.resumed) },
            { note in
                let isNew = observers.control.resume(noting: note)
                if isNew { list.noteSuspension(false) }
                return isNew
            })
    }

    /// Whether the request is active, which means that it is not suspended. Opening a connection ahead of need is not a
    /// request and never active.
    nonisolated var isActive: Bool { kind != .preconnect && observers?.control.isSuspended != true }

    nonisolated func snapshot(at now: HTTP.Instant) -> HTTPSession.TaskSnapshot {
        snapshot(at: now, isSuspended: observers?.control.isSuspended == true)
    }

    /// How often the request has been sent, including the current exchange; 1 before the first.
    nonisolated var hop: Int {
        switch TaskMachine.State(code: state.load(ordering: .relaxed)) {
        case .running(let hop), .pausing(let hop): max(1, hop)
        case .waiting, .finished, .failed, .cancelled: 1
        }
    }

    private nonisolated func snapshot(at now: HTTP.Instant, isSuspended: Bool) -> HTTPSession.TaskSnapshot {
        let stand = TaskMachine.State(code: state.load(ordering: .relaxed))
        let state = stand.shown(isSuspended: isSuspended)
        var phase: HTTP.Phase?
        switch state {
        case .running: phase = cancellation.phase
        case .waiting where cancellation.phase == .pool: phase = .pool
        case .waiting, .waitingToRetry, .suspended, .over: break
        }
        return HTTPSession.TaskSnapshot(
            id: id, kind: kind, method: method, targetTemplate: targetTemplate, label: label,
            operation: settings?.options.operation, tags: tags, priority: priority, state: state, phase: phase,
            age: now.duration(since: created), hasTemplate: hasTemplate, isRevalidation: isRevalidation,
            basePath: settings?.basePath ?? "/",
            record: .init(record: observers?.record))
    }
}

// MARK: - On its way

extension TaskDelegate {
    /// Notes that the call is about to be sent. Returns false if it is over.
    nonisolated func begin() -> Bool { change { $0.begin() } }

    /// Notes that the call waits between two attempts.
    nonisolated func pause() { _ = change { $0.pause() } }

    nonisolated func end(_ end: TaskMachine.State) { _ = change { $0.end(end) } }

    private nonisolated func change(_ event: (inout TaskMachine) -> Bool) -> Bool {
        var code = state.load(ordering: .relaxed)
        while true {
            var machine = TaskMachine(TaskMachine.State(code: code))
            guard event(&machine) else { return false }
            let (isDone, present) = state.weakCompareExchange(
                expected: code, desired: machine.state.code, ordering: .relaxed)
            if isDone { return true }
            code = present
        }
    }

    /// Notes what has been sent for the call.
    nonisolated func noteSent(_ traits: SentRequests.Traits) {
        if !sent.isSuperset(of: traits) { sentTraits.bitwiseOr(traits.rawValue, ordering: .relaxed) }
    }

    /// The traits of what has been sent for the call, with all its parts, and by interceptors.
    nonisolated var sent: SentRequests.Traits { SentRequests.Traits(rawValue: sentTraits.load(ordering: .relaxed)) }

    /// Whether everything that has been sent for the call so far may be sent again.
    package nonisolated var isRepeatable: Bool { !sent.contains(.notRepeatable) }

    /// Whether everything that was sent was a GET without a body, whatever was requested.
    package nonisolated var hasSentOnlyGETs: Bool { !sent.contains(.notGET) }

    /// Whether to report that the request waits for a network; true only the first time.
    nonisolated func mayTellOfWait() -> Bool { !hasToldOfWait.exchange(true, ordering: .relaxed) }

    /// Lends a sending to interceptors, until it is taken back. Returns the loan's number.
    func lend(_ sending: Sending, _ bring: Sending.Bring?) -> Int {
        lastLoan += 1
        loans[lastLoan] = Loan(sending, bring)
        return lastLoan
    }

    /// Ends a loan.
    func takeBack(_ number: Int) -> Loan? { loans.removeValue(forKey: number) }
}

extension TaskMachine.State {
    /// The state for snapshots.
    func shown(isSuspended: Bool) -> HTTPSession.TaskSnapshot.State {
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
