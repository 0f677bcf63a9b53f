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

    private let present = Mutex(Shared())
    private let used = Atomic<Bool>(false)
    /// The memories of single requests' passwords, the most recently used last.
    private let others = Mutex<[(password: OriginPassword, memory: PasswordMemory)]>([])

    /// The number of single requests' passwords that are remembered.
    private static let mostOthers = 32
    private static let mostSpaces = 8

    /// The memory of a password that belongs to single requests.
    func memory(of password: OriginPassword) -> PasswordMemory {
        others.withLock { others in
            if let index = others.firstIndex(where: { $0.password.isSame(as: password) }) {
                others.append(others.remove(at: index))
            } else {
                if others.count == Self.mostOthers { others.removeFirst() }
                others.append((password, PasswordMemory(limit: Self.mostSpaces)))
            }
            return others[others.count - 1].memory
        }
    }

    var shared: Shared { present.withLock { $0 } }

    /// Whether requests without a password of their own may have to carry an answer that was accepted before.
    var isInUse: Bool { used.load(ordering: .relaxed) }

    /// Notes that an answer for all requests was accepted.
    func noteUse() { used.store(true, ordering: .relaxed) }

    func removeAll() {
        present.withLock { $0 = Shared() }
        others.withLock { $0.removeAll() }
    }
}

extension OriginPassword {
    fileprivate func isSame(as other: OriginPassword) -> Bool {
        origin.isSame(as: other.origin) && password == other.password
    }
}
