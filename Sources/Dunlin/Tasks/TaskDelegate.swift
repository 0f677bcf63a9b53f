internal import DunlinReactor
internal import Synchronization

/// Looks after one request from its registration to its end: where it stands, and how to stop it.
///
/// Where it stands is under a lock and not in the actor's own state: a cancel handler must reach it now, and the hot
/// path cannot afford the job switch that entering an actor takes.
public actor TaskDelegate {
    public nonisolated let id = TaskID.next()
    public nonisolated let method: Method
    /// The target as the caller wrote it, values left out.
    public nonisolated let template: String
    public nonisolated let label: String?
    /// Felt by whatever the request waits for.
    nonisolated let interrupt = Interrupt()
    /// Counts instead of the session's, should a connection have to be secured.
    nonisolated let advisor: RequestAdvisor?
    private nonisolated let machine = Mutex(TaskMachine())

    init(_ method: Method, _ template: String, label: String?, advisor: RequestAdvisor? = nil) {
        self.method = method
        self.template = template
        self.label = label
        self.advisor = advisor
    }

    /// Stops the request wherever it is; it fails with `NetworkError` code `cancelled`. Harmless when it is over.
    public nonisolated func cancel() {
        interrupt.cancel(.handle)
    }

    nonisolated func begin() -> Bool {
        machine.withLock { $0.begin() }
    }

    nonisolated func end(_ end: TaskMachine.State) {
        machine.withLock { _ = $0.end(end) }
    }

    public nonisolated var snapshot: TaskSnapshot {
        let state = machine.withLock { $0.state }
        return TaskSnapshot(id: id, method: method, template: template, label: label, state: .init(state))
    }
}

/// What the registry tells of a request.
public struct TaskSnapshot: Sendable, Hashable {
    public enum State: Sendable, Hashable {
        case waiting
        /// On its way; `hop` counts the times it was sent.
        case running(hop: Int)
        case over

        init(_ state: TaskMachine.State) {
            switch state {
            case .waiting: self = .waiting
            case .running(let hop): self = .running(hop: hop)
            case .finished, .failed, .cancelled: self = .over
            }
        }
    }

    public var id: TaskID
    public var method: Method
    public var template: String
    public var label: String?
    public var state: State
}
