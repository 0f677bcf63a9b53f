internal import DunlinReactor
internal import Synchronization

/// Where passwords got in: what a session remembers for all its requests, and what it remembers for those that have a
/// password of their own, each password for itself.
final class PasswordBook: Sendable {
    /// For requests that have no password of their own. When passwords are forgotten another takes its place: what is
    /// on its way by then is kept where nobody looks.
    struct Shared: Sendable {
        let keeper = PasswordKeeper()
        let questions = ChallengeQuestions()
        /// What no other has: after passwords are forgotten, a hook may say another user.
        let number = SessionUser.newNumber()
    }

    private let present = Mutex(Shared())
    private let used = Atomic<Bool>(false)
    /// The one used last comes last.
    private let others = Mutex<[(password: OriginPassword, keeper: PasswordKeeper)]>([])

    /// Passwords of single requests that are remembered.
    private static let mostOthers = 32
    private static let mostSpaces = 8

    /// The keeper of a password that single requests have.
    func keeper(of password: OriginPassword) -> PasswordKeeper {
        others.withLock { others in
            if let index = others.firstIndex(where: { $0.password.isSame(as: password) }) {
                others.append(others.remove(at: index))
            } else {
                if others.count == Self.mostOthers { others.removeFirst() }
                others.append((password, PasswordKeeper(limit: Self.mostSpaces)))
            }
            return others[others.count - 1].keeper
        }
    }

    var shared: Shared { present.withLock { $0 } }

    /// Whether requests without a password of their own may have to be sent with something that got in before.
    var isInUse: Bool { used.load(ordering: .relaxed) }

    /// Something that belongs to all requests got in.
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
