internal import DunlinReactor
internal import DunlinSemantics
internal import Synchronization

/// Writes responses into a cache's folder behind the requests that brought them, by the rules of `StoreQueueMachine`:
/// one after the other, on one disk thread at a time.
///
/// A thread does some of them at a stretch and makes room for other work. Nobody is told or resumed under the lock.
final class StoreQueue: Sendable {
    /// A response that is to be written.
    struct Pending: Sendable {
        /// Writes it, unless it is void by then. Returns whether it is known to be findable.
        let store: @Sendable () -> Bool
        /// What came of it.
        let told: @Sendable (Bool) -> Void
    }

    typealias Offer = Machine.Offer
    typealias Machine = StoreQueueMachine<CacheKey, Pending, DiskThreads.Work>

    /// How many steps a thread does at a stretch.
    private static var stretch: Int { 64 }

    private let machine: Mutex<Machine>

    init(capacity: Int) {
        machine = Mutex(Machine(capacity: capacity))
    }

    /// How many wait or are being written, and what they hold.
    var waiting: (count: Int, cost: Int) { machine.withLock { ($0.count, $0.cost) } }

    /// Takes a response. With `.begin`, `write` has to be called.
    func offer(_ pending: Pending, for key: CacheKey, cost: Int) -> Offer {
        machine.withLock { $0.offer(pending, for: key, cost: cost) }
    }

    /// Has work done on a disk thread behind what waits of a key; false if nothing does, and the work is the caller's.
    func follow(_ key: CacheKey, _ work: @escaping DiskThreads.Work) -> Bool {
        machine.withLock { $0.follow(key, work) }
    }

    /// The same behind all that waits now.
    func follow(_ work: @escaping DiskThreads.Work) -> Bool {
        machine.withLock { $0.follow(work) }
    }

    /// What waits of a key is not written.
    func drop(_ key: CacheKey) {
        for pending in machine.withLock({ $0.drop(key) }) { pending.told(false) }
    }

    /// Nothing that waits is written.
    func dropAll() {
        for pending in machine.withLock({ $0.dropAll() }) { pending.told(false) }
    }

    /// Writes what waits, on disk threads of the level.
    func write(on level: DiskLevel) {
        if level.background({ self.writeSome(on: level) }) { return }
        // It was closed meanwhile. Whoever waits behind something gets an answer all the same.
        dropAll()
        while case .work(let work)? = machine.withLock({ $0.next() }) {
            work()
            machine.withLock { $0.done() }
        }
    }

    private func writeSome(on level: DiskLevel) {
        for _ in 0..<Self.stretch {
            guard let step = machine.withLock({ $0.next() }) else { return }
            switch step {
            case .store(let pending): pending.told(pending.store())
            case .work(let work): work()
            }
            machine.withLock { $0.done() }
        }
        write(on: level)
    }
}
