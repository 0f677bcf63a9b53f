/// Which requests run, whether more may come, and who waits for the last to end.
struct RegistryMachine<Delegate, Watcher> {
    private(set) var running: [TaskID: Delegate] = [:]
    private var watchers: [(id: UInt64, watcher: Watcher)] = []
    private var nextWatcher: UInt64 = 0
    private var isClosed = false

    /// False once the registry is closed.
    mutating func add(_ delegate: Delegate, _ id: TaskID) -> Bool {
        if isClosed { return false }
        running[id] = delegate
        return true
    }

    /// Those to be told that nothing runs any more.
    mutating func remove(_ id: TaskID) -> [Watcher] {
        running[id] = nil
        guard running.isEmpty, !watchers.isEmpty else { return [] }
        defer { watchers = [] }
        return watchers.map(\.watcher)
    }

    mutating func close() {
        isClosed = true
    }

    /// A number to leave with; nil if nothing runs, and there is nothing to wait for.
    mutating func watch(_ watcher: Watcher) -> UInt64? {
        if running.isEmpty { return nil }
        nextWatcher += 1
        watchers.append((nextWatcher, watcher))
        return nextWatcher
    }

    mutating func leave(_ id: UInt64) {
        watchers.removeAll { $0.id == id }
    }
}
