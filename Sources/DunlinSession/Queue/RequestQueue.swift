internal import DunlinReactor
internal import DunlinTransport
internal import Synchronization

/// Admits a limited number of requests at once and has the others wait. The rules are in `QueueMachine`; this class
/// adds the lock and the waiting.
package final class RequestQueue: Sendable {
    fileprivate enum Grant: Sendable {
        case admitted
        case steppedAside
    }

    /// The result of entering.
    enum Entry: Sendable {
        case admitted(_ host: String, number: UInt64?)
        /// Too many requests wait already.
        case full
        case waiting(Position)

        /// The number with which to return.
        var number: UInt64? {
            switch self {
            case .admitted(_, let number): number
            case .full: nil
            case .waiting(let position): position.number
            }
        }
    }

    /// The outcome of a wait.
    enum Outcome {
        /// The request may run, and must `leave` when it is over.
        case admitted
        case full
        /// The request was suspended. It enters again when it is resumed, with its number if it waited in the queue.
        case steppedAside(number: UInt64?)
        case timedOut
        case cancelled
    }

    let limits: HTTPSession.QueueLimits
    /// What has room of its own; nil for the origin.
    let key: (@Sendable (RequestHead) -> String)?
    /// Of a queue that sessions share, which is earlier than all of them; nil for other queues.
    let owner: Owner?
    private let state: Mutex<QueueMachine<ValueWaiter<Grant>>>

    package init(
        _ limits: HTTPSession.QueueLimits, of owner: Owner? = nil, by key: (@Sendable (RequestHead) -> String)? = nil
    ) {
        (self.limits, self.owner, self.key) = (limits, owner, key)
        state = Mutex(QueueMachine(limits))
    }

    /// The number of requests that wait for their turn.
    package var waiting: Int { state.withLock { $0.waiting } }

    /// Enters the queue without waking anybody. The returned entry must be waited for at some time.
    func enter(_ host: String, _ control: TransferControl, as number: UInt64? = nil) -> Entry {
        let waiter = ValueWaiter<Grant>(on: control.reactor)
        let priority = control.queueStatus.priority
        switch state.withLock({ $0.enter(host, priority, as: number, waiter) }) {
        case .go: return .admitted(host, number: number)
        case .refuse: return .full
        case .wait(let number):
            let position = Position(self, host, number, waiter)
            control.queueStatus.enter(position)
            return .waiting(position)
        }
    }

    /// Waits for the turn of a request that has entered.
    func wait(
        _ entry: Entry, _ control: TransferControl, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> Outcome {
        switch entry {
        case .admitted(let host, let number): return admit(host, control, number)
        case .full: return .full
        case .waiting(let position): return await wait(position, control, until: deadline, cancellation)
        }
    }

    /// Ends an admitted request.
    func leave(_ host: String) {
        var host = host
        while let next = state.withLock({ $0.leave(host) }) {
            if next.waiter.deliver(.admitted) { return }
            host = next.host
        }
    }

    private func wait(
        _ position: Position, _ control: TransferControl, until deadline: HTTP.Instant, _ cancellation: Cancellation
    ) async -> Outcome {
        cancellation.phase = .pool
        defer {
            cancellation.phase = .firstByte
            control.queueStatus.leave()
        }
        // It may have been suspended before it had a position to step aside from.
        if control.isSuspended { position.stepAside() }
        switch await position.waiter.wait(until: deadline, cancellation: cancellation) {
        case .value(.admitted): return admit(position.host, control, position.number)
        case .value(.steppedAside): return .steppedAside(number: position.number)
        case .timedOut:
            giveUp(position)
            return .timedOut
        case .cancelled:
            giveUp(position)
            return .cancelled
        }
    }

    /// Admits a request, unless it is suspended: it would hold a turn that it cannot use.
    private func admit(_ host: String, _ control: TransferControl, _ number: UInt64?) -> Outcome {
        guard control.isSuspended else { return .admitted }
        leave(host)
        return .steppedAside(number: number)
    }

    /// Ends a wait. Returns the waiter, if it was still waiting.
    @discardableResult
    private func giveUp(_ position: Position) -> ValueWaiter<Grant>? {
        state.withLock { $0.giveUp(position.number, position.host) }
    }

    /// The position of a waiting request.
    struct Position: QueuePosition {
        private let queue: RequestQueue
        fileprivate let host: String
        fileprivate let number: UInt64
        fileprivate let waiter: ValueWaiter<Grant>

        fileprivate init(_ queue: RequestQueue, _ host: String, _ number: UInt64, _ waiter: ValueWaiter<Grant>) {
            self.queue = queue
            self.host = host
            self.number = number
            self.waiter = waiter
        }

        func move(to priority: HTTP.Priority) {
            queue.state.withLock { $0.move(number, host, to: priority) }
        }

        func stepAside() {
            _ = queue.giveUp(self)?.deliver(.steppedAside)
        }
    }
}

extension RequestQueue: Hashable {
    package static func == (one: RequestQueue, other: RequestQueue) -> Bool { one === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
