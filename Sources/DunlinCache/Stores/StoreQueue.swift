internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// Writes responses into a cache's folder after their requests have ended, by the rules of `StoreQueueMachine`: one
/// after the other, on one disk thread at a time.
///
/// A thread writes some of them and then makes room for other work. Nobody is told or resumed under the lock.
final class StoreQueue: Sendable {
    /// A response that is to be written.
    struct Pending: Sendable {
        /// Writes the response, unless it was removed by then. Returns whether it is known to be findable.
        let store: @Sendable () -> Bool
        /// Called with what `store` returned, or false if the response is not written.
        let whenStored: @Sendable (Bool) -> Void
    }

    typealias Offer = Machine.Offer
    typealias Machine = StoreQueueMachine<CacheKey, Pending, DiskThreads.Work>

    /// The number of steps after which a thread makes room for other work.
    private static var stretch: Int { 64 }

    private let machine: Mutex<Machine>

    init(capacity: Int) {
        machine = Mutex(Machine(capacity: capacity))
    }

    /// The number of responses that wait or are being written, and the bytes of memory that they use.
    var waiting: (count: Int, cost: Int) { machine.withLock { ($0.count, $0.cost) } }

    /// Takes a response. If it returns `.begin`, the caller must call `write`.
    func offer(_ pending: Pending, for key: CacheKey, cost: Int) -> Offer {
        machine.withLock { $0.offer(pending, for: key, cost: cost) }
    }

    /// Queues work after everything that waits for a key, for a disk thread. Returns false if nothing waits: then the
    /// caller does the work.
    func follow(_ key: CacheKey, _ work: @escaping DiskThreads.Work) -> Bool {
        machine.withLock { $0.follow(key, work) }
    }

    /// Queues work after everything that waits now. Returns false if nothing waits: then the caller does the work.
    func follow(_ work: @escaping DiskThreads.Work) -> Bool {
        machine.withLock { $0.follow(work) }
    }

    /// Drops the responses that wait for a key, which are not written.
    func drop(_ key: CacheKey) {
        for pending in machine.withLock({ $0.drop(key) }) { pending.whenStored(false) }
    }

    /// Drops all responses that wait, which are not written.
    func dropAll() {
        for pending in machine.withLock({ $0.dropAll() }) { pending.whenStored(false) }
    }

    /// Writes the responses that wait, on disk threads of the level.
    func write(on level: DiskLevel) {
        if level.background({ self.writeSome(on: level) }) { return }
        // The level was closed meanwhile.
        level.threads.start { self.end() }
    }

    /// Writes none of the responses that wait, and those that are given meanwhile; work that was queued after them is
    /// still done.
    private func end() {
        dropAll()
        while let step = machine.withLock({ $0.next() }) {
            switch step {
            case .store(let pending): pending.whenStored(false)
            case .work(let work): work()
            }
            machine.withLock { $0.done() }
        }
    }

    private func writeSome(on level: DiskLevel) {
        for _ in 0..<Self.stretch {
            guard let step = machine.withLock({ $0.next() }) else { return }
            switch step {
            case .store(let pending): pending.whenStored(pending.store())
            case .work(let work): work()
            }
            machine.withLock { $0.done() }
        }
        write(on: level)
    }
}
