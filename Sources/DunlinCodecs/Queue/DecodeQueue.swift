internal import Glibc  // sysconf tells how many processors there are
internal import Synchronization

/// What all decodes of a process share: so many at a time, and so many bytes for all of them together. Who comes first
/// goes first, and who is cancelled waits no longer.
public final class DecodeQueue: Sendable {
    /// As many decodes as there are processors, and 1 GiB.
    public static let shared = DecodeQueue(decodes: sysconf(Int32(_SC_NPROCESSORS_ONLN)), bytes: 1 << 30)

    private let machine: Mutex<DecodeQueueMachine<UnsafeContinuation<Bool, Never>>>

    /// A queue of its own for a part of a program. A decode that takes more than `bytes` runs alone.
    public init(decodes: Int, bytes: Int) {
        machine = Mutex(DecodeQueueMachine(decodes: decodes, bytes: bytes))
    }

    /// Decodes that run now.
    public var running: Int { machine.withLock { $0.running } }
    /// Decodes that wait for their turn.
    public var waiting: Int { machine.withLock { $0.waiting } }
    /// Bytes that the running decodes take, as far as their headers told.
    public var bytes: Int { machine.withLock { $0.taken } }
    /// Whether nobody runs, waits or has begun.
    var isIdle: Bool { machine.withLock { $0.isIdle } }

    /// Runs `work` when it is its turn. Throws `CancellationError` if the task is cancelled before.
    func admit<Value: Sendable>(
        _ bytes: Int, _ work: @Sendable @concurrent () async throws -> Value
    ) async throws -> Value {
        guard await enter(bytes) else { throw CancellationError() }
        defer { answer(machine.withLock { $0.leave(bytes) }) }
        return try await work()
    }

    private func enter(_ bytes: Int) async -> Bool {
        let id = machine.withLock { $0.begin() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                switch machine.withLock({ $0.enter(id, bytes, continuation) }) {
                case .admitted: continuation.resume(returning: true)
                case .cancelled: continuation.resume(returning: false)
                case .waiting: break
                }
            }
        } onCancel: {
            answer(machine.withLock { $0.cancel(id) })
        }
    }

    private func answer(_ answers: [DecodeQueueMachine<UnsafeContinuation<Bool, Never>>.Answer]) {
        for answer in answers { answer.waiter.resume(returning: answer.isAdmitted) }
    }
}
