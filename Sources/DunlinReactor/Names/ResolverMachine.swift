/// Keeps the waiters for each name, and the number of threads that look up names.
///
/// Equal names are looked up once for all who ask meanwhile. The number of threads and of waiting names is limited;
/// beyond that a question is refused at once. A waiter that left is forgotten; its look-up goes on, because getaddrinfo
/// cannot be stopped.
struct ResolverMachine<Waiter> {
    enum Action: Equatable {
        case wait
        case startThread
        case refuse
    }

    private let threads: Int
    private let backlog: Int
    private var waiters: [String: [(id: UInt64, waiter: Waiter)]] = [:]
    private var queue: [String] = []
    private var running = 0

    init(threads: Int, backlog: Int) {
        self.threads = threads
        self.backlog = backlog
    }

    mutating func ask(_ name: String, _ id: UInt64, _ waiter: Waiter) -> Action {
        if waiters[name] != nil {
            waiters[name]?.append((id, waiter))
            return .wait
        }
        guard running < threads || queue.count < backlog else { return .refuse }
        waiters[name] = [(id, waiter)]
        queue.append(name)
        guard running < threads else { return .wait }
        running += 1
        return .startThread
    }

    /// The name that a thread should look up now; nil if it should end.
    mutating func next() -> String? {
        if queue.isEmpty {
            running -= 1
            return nil
        }
        return queue.removeFirst()
    }

    /// Notes that a thread could not be started. Returns the waiters for a name that nobody will look up.
    mutating func threadFailed() -> [Waiter] {
        running -= 1
        guard running == 0 else { return [] }
        defer { queue.removeAll() }
        return queue.flatMap { waiters.removeValue(forKey: $0)?.map(\.waiter) ?? [] }
    }

    mutating func answered(_ name: String) -> [Waiter] {
        waiters.removeValue(forKey: name)?.map(\.waiter) ?? []
    }

    mutating func forget(_ name: String, _ id: UInt64) {
        waiters[name]?.removeAll { $0.id == id }
    }
}
