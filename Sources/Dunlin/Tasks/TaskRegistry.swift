internal import DunlinReactor

/// Every running request of a session, by id.
public actor TaskRegistry {
    private var running: [TaskID: TaskDelegate] = [:]
    private var isClosed = false
    /// Those who wait for the last request to end.
    private var watchers: [Parking<Void>] = []

    private let loop: Reactor

    init(on loop: Reactor) {
        self.loop = loop
    }

    func add(_ delegate: TaskDelegate) throws {
        guard !isClosed else { throw NetworkError(.sessionClosed, "the session is shut down") }
        running[delegate.id] = delegate
    }

    func remove(_ id: TaskID) {
        running[id] = nil
        guard running.isEmpty, !watchers.isEmpty else { return }
        let watchers = watchers
        self.watchers = []
        for watcher in watchers { _ = watcher.deliver(()) }
    }

    public var count: Int { running.count }

    /// A picture of every running request, oldest first.
    public var all: [TaskSnapshot] {
        get async {
            var pictures: [TaskSnapshot] = []
            for delegate in running.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
                pictures.append(await delegate.snapshot)
            }
            return pictures
        }
    }

    public subscript(_ id: TaskID) -> TaskDelegate? { running[id] }

    /// Stops one request; false if it is not running.
    @discardableResult
    public func cancel(_ id: TaskID) -> Bool {
        running[id]?.cancel()
        return running[id] != nil
    }

    /// Stops every request and returns how many there were, once the last has told its caller.
    ///
    /// Must not be awaited by one of the requests it stops, such as inside a stream's scope.
    @discardableResult
    public func cancelAll() async -> Int {
        let count = running.count
        for delegate in running.values { delegate.cancel() }
        await drain(until: .never)
        return count
    }

    /// Takes no more requests.
    func close() {
        isClosed = true
    }

    /// Waits until nothing runs any more or the time has come.
    func drain(until deadline: MonotonicTime) async {
        guard !running.isEmpty else { return }
        let watcher = Parking<Void>(on: loop)
        watchers.append(watcher)
        _ = await watcher.wait(until: deadline, interrupt: nil)
        watchers.removeAll { $0 === watcher }
    }
}
