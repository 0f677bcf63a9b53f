/// Which work waits for a disk, and which threads there are to do it.
///
/// Rules:
/// 1. Work begins in the order in which it came.
/// 2. A thread that rests is woken before another is started, the one that rested last first: those that are not needed
///    go on resting, and leave.
/// 3. There are never more threads than `limit`.
/// 4. A thread may leave only while it rests: one that was just woken has work to look for.
struct DiskMachine<Work, Thread: Equatable> {
    enum Action {
        /// A thread will come for it by itself.
        case none
        case wake(Thread)
        case startThread
    }

    private let limit: Int
    private var waiting: [Work] = []
    /// Taken already, of `waiting`.
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

    /// What `thread` should do now; nil: rest.
    mutating func next(for thread: Thread) -> Work? {
        // It may come by a bell that was meant for work it has done already, and be listed from then. Listed twice, it
        // would be woken for work after it has left.
        resting.removeAll { $0 == thread }
        guard taken < waiting.count else {
            waiting.removeAll(keepingCapacity: waiting.count <= 64)
            taken = 0
            resting.append(thread)
            return nil
        }
        defer { taken += 1 }
        return waiting[taken]
    }

    /// `thread` has rested for long enough. Whether it should leave.
    mutating func mayLeave(_ thread: Thread) -> Bool {
        guard let place = resting.firstIndex(of: thread) else { return false }
        resting.remove(at: place)
        threads -= 1
        return true
    }

    /// A thread could not be started. Work that no thread will do is given back.
    mutating func startFailed() -> [Work] {
        threads -= 1
        guard threads == 0 else { return [] }
        defer { (waiting, taken) = ([], 0) }
        return Array(waiting[taken...])
    }
}
