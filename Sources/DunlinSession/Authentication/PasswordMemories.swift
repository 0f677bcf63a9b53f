internal import DunlinReactor
internal import Synchronization

/// The passwords that servers have accepted: those that a session remembers for all its requests, and separately those
/// of requests with passwords of their own.
final class PasswordMemories: Sendable {
    /// What is remembered for requests without a password of their own. It is replaced when passwords are forgotten, so
    /// that results still under way go where nobody looks.
    struct Shared: Sendable {
        let memory = PasswordMemory()
        let questions = ChallengeQuestions()
        /// A unique number: after passwords are forgotten, a hook may name another user.
        let number = UniqueNumber.next()
    }

    private struct State {
        var shared = Shared()
        /// The memories of single requests' passwords, the most recently used last.
        var others: [(password: OriginPassword, memory: PasswordMemory)] = []
    }

    private let state = Mutex(State())
    private let used = Atomic<Bool>(false)

    /// The number of single requests' passwords that are remembered.
    private static let mostOthers = 32
    private static let mostSpaces = 8

    /// The memory of a password that belongs to single requests.
    func memory(of password: OriginPassword) -> PasswordMemory {
        state.withLock { state in
            if let index = state.others.firstIndex(where: { $0.password.isSame(as: password) }) {
                state.others.append(state.others.remove(at: index))
            } else {
                if state.others.count == Self.mostOthers { state.others.removeFirst() }
                state.others.append((password, PasswordMemory(limit: Self.mostSpaces)))
            }
            return state.others[state.others.count - 1].memory
        }
    }

    var shared: Shared { state.withLock { $0.shared } }

    /// Whether requests without a password of their own may have to carry an answer that was accepted before.
    var isInUse: Bool { used.load(ordering: .relaxed) }

    /// Notes that an answer for all requests was accepted.
    func noteUse() { used.store(true, ordering: .relaxed) }

    func removeAll() {
        state.withLock { $0 = State() }
    }
}

extension OriginPassword {
    fileprivate func isSame(as other: OriginPassword) -> Bool {
        origin.isSame(as: other.origin) && password == other.password
    }
}
