internal import Glibc  // sysconf tells how many processors there are
internal import Synchronization

/// A queue that limits how many decodes run at a time, and how many bytes they take together. They run in order of
/// arrival; a cancelled one stops waiting.
public final class DecodeQueue: Sendable {
    /// The queue that a process shares: as many decodes as there are processors, and 1 GiB.
    public static let shared = DecodeQueue(decodes: sysconf(Int32(_SC_NPROCESSORS_ONLN)), bytes: 1 << 30)

    private let machine: Mutex<DecodeQueueMachine<UnsafeContinuation<Bool, Never>>>

    /// Creates a separate queue for a part of a program. A decode that takes more than `bytes` runs alone.
    public init(decodes: Int, bytes: Int) {
        machine = Mutex(DecodeQueueMachine(decodes: decodes, bytes: bytes))
    }

    /// The number of decodes running now.
    public var running: Int { machine.withLock { $0.running } }
    /// The number of decodes waiting for their turn.
    public var waiting: Int { machine.withLock { $0.waiting } }
    /// The bytes that running decodes take, as far as their headers tell.
    public var bytes: Int { machine.withLock { $0.taken } }
    /// Whether no decode runs, waits or has begun.
    var isIdle: Bool { machine.withLock { $0.isIdle } }

    /// Runs `work` when its turn comes. Throws `CancellationError` if the task is cancelled before that.
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
