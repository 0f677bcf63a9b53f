/// Keeps the work that waits for a disk, and the threads that do it.
///
/// Rules:
/// 1. Work begins in the order in which it came.
/// 2. A resting thread is woken before another is started, the one that rested last first: threads that are not needed
///    go on resting, and end.
/// 3. There are never more threads than `limit`.
/// 4. A thread may end only while it rests: one that was just woken has work to look for.
/// 5. Work that was taken is not kept: it is released by its thread, outside the lock, since releasing it may run code
///    that adds work.
struct DiskMachine<Work, Thread: Equatable> {
    enum Action {
        /// No thread needs to be woken: one will come for the work by itself.
        case none
        case wake(Thread)
        case startThread
    }

    private let limit: Int
    /// The work; nil where it has been taken.
    private var waiting: [Work?] = []
    /// The number of `waiting` that have been taken already.
    private var taken = 0
    private var resting: [Thread] = []
    private(set) var threads = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ work: Work) -> Action {
        waiting.append(work)
        if let thread = resting.popLast() { return .wake(thread) }
        guard threads < limit else { return .none }
        threads += 1
        return .startThread
    }

    /// Returns the work that `thread` should do now; nil if it should rest.
    mutating func next(for thread: Thread) -> Work? {
        // The thread may have been woken for work that is done already, and still be listed. Listed twice, it would be
        // woken for work after it has ended.
        resting.removeAll { $0 == thread }
        guard taken < waiting.count else {
            waiting.removeAll(keepingCapacity: waiting.count <= 64)
            taken = 0
            resting.append(thread)
            return nil
        }
        defer { taken += 1 }
        return waiting[taken].take()
    }

    /// Returns whether `thread`, which has rested for long enough, should end.
    mutating func mayLeave(_ thread: Thread) -> Bool {
        guard let index = resting.firstIndex(of: thread) else { return false }
        resting.remove(at: index)
        threads -= 1
        return true
    }

    /// Notes that a thread could not be started. Returns the work that no thread will do.
    mutating func startFailed() -> [Work] {
        threads -= 1
        guard threads == 0 else { return [] }
        defer { (waiting, taken) = ([], 0) }
        return waiting[taken...].compactMap(\.self)
    }
}
