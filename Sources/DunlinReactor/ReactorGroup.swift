internal import Glibc
internal import Synchronization

/// Loops that are started when first asked for and then handed out in turn.
public final class ReactorGroup: Sendable {
    private struct State {
        var reactors: [Reactor] = []
        var next = 0
    }

    /// The process's own loops, shared by every session that does not bring its own: one for two processors.
    public static let shared = ReactorGroup(count: max(1, min(16, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2)))

    private let count: Int
    private let state = Mutex(State())

    public init(count: Int) {
        self.count = max(1, count)
    }

    /// A loop; the next caller gets the next one. Throws when the kernel refuses a thread or a descriptor.
    public func next() throws(Errno) -> Reactor {
        try state.withLock { state throws(Errno) -> Reactor in
            let position = state.next
            if position == state.reactors.count {
                // Starting a loop under the lock: it happens once a loop, and nobody must get a second one.
                state.reactors.append(try Reactor(name: "dunlin-\(position)"))
            }
            state.next = (position + 1) % count
            return state.reactors[position]
        }
    }
}
