public import Dunlin
internal import Synchronization

/// Stands for a request in notifications. While somebody retains it, all notifications about that request have it as
/// their `object`: notification centers compare objects by identity, which an `HTTPSession.TaskID` does not have.
public final class NotifiedTask: Sendable {
    public let id: HTTPSession.TaskID
    private let owner: NotifiedTasks

    init(_ id: HTTPSession.TaskID, of owner: NotifiedTasks) {
        self.id = id
        self.owner = owner
    }

    deinit {
        owner.forget(id, ObjectIdentifier(self))
    }

    /// The request as of the latest notification; nil before the first.
    public var snapshot: HTTPSession.TaskSnapshot? { owner.snapshot(of: id) }
}

/// The objects that stand for requests, while somebody retains them, and their latest snapshots.
final class NotifiedTasks: Sendable {
    // A class: a weak reference within a struct in a dictionary crashes when it is read (Swift 6.3.1).
    private final class Entry {
        let identity: ObjectIdentifier
        weak var task: NotifiedTask?
        var snapshot: HTTPSession.TaskSnapshot?

        init(_ task: NotifiedTask) {
            identity = ObjectIdentifier(task)
            self.task = task
        }
    }

    private let entries = Mutex<[HTTPSession.TaskID: Entry]>([:])

    subscript(id: HTTPSession.TaskID) -> NotifiedTask {
        entries.withLock { entries in
            if let known = entries[id]?.task { return known }
            let task = NotifiedTask(id, of: self)
            entries[id] = Entry(task)
            return task
        }
    }

    func task(with snapshot: HTTPSession.TaskSnapshot) -> NotifiedTask {
        let task = self[snapshot.id]
        entries.withLock { $0[snapshot.id]?.snapshot = snapshot }
        return task
    }

    func snapshot(of id: HTTPSession.TaskID) -> HTTPSession.TaskSnapshot? { entries.withLock { $0[id]?.snapshot } }

    /// Compares by identity: reading the entry's task would retain it briefly, and release it under the lock.
    func forget(_ id: HTTPSession.TaskID, _ identity: ObjectIdentifier) {
        entries.withLock { entries in
            if entries[id]?.identity == identity { entries[id] = nil }
        }
    }

    var count: Int { entries.withLock { $0.count } }
}
