public import Dunlin
internal import Synchronization

/// Stands for one request in notifications. As long as somebody keeps it, all notifications about that request have it
/// for their `object`: notification centers tell objects apart by identity, and a `TaskID` has none.
public final class NotifiedTask: Sendable {
    public let id: TaskID
    private let owner: NotifiedTasks

    init(_ id: TaskID, of owner: NotifiedTasks) {
        self.id = id
        self.owner = owner
    }

    deinit {
        owner.forget(id, ObjectIdentifier(self))
    }

    /// The request as the latest notification had it; nil before the first.
    public var snapshot: TaskSnapshot? { owner.snapshot(of: id) }
}

/// Which object stands for which request, as long as somebody keeps it, and what it was told last.
final class NotifiedTasks: Sendable {
    // A class: a weak reference within a struct in a dictionary crashes when it is read (Swift 6.3.1).
    private final class Entry {
        let identity: ObjectIdentifier
        weak var task: NotifiedTask?
        var snapshot: TaskSnapshot?

        init(_ task: NotifiedTask) {
            identity = ObjectIdentifier(task)
            self.task = task
        }
    }

    private let entries = Mutex<[TaskID: Entry]>([:])

    subscript(id: TaskID) -> NotifiedTask {
        entries.withLock { entries in
            if let known = entries[id]?.task { return known }
            let task = NotifiedTask(id, of: self)
            entries[id] = Entry(task)
            return task
        }
    }

    func told(_ snapshot: TaskSnapshot) -> NotifiedTask {
        let task = self[snapshot.id]
        entries.withLock { $0[snapshot.id]?.snapshot = snapshot }
        return task
    }

    func snapshot(of id: TaskID) -> TaskSnapshot? { entries.withLock { $0[id]?.snapshot } }

    /// By identity: looking at the entry's task would keep it for a moment, and let go of it under the lock.
    func forget(_ id: TaskID, _ identity: ObjectIdentifier) {
        entries.withLock { entries in
            if entries[id]?.identity == identity { entries[id] = nil }
        }
    }

    var count: Int { entries.withLock { $0.count } }
}
