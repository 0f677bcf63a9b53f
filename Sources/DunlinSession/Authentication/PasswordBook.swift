internal import DunlinReactor
internal import Synchronization

/// Where passwords got in: what a session remembers for all its requests, and what it remembers for those that have a
/// password of their own, each password for itself.
final class PasswordBook: Sendable {
    /// For requests that have no password of their own.
    let shared = PasswordKeeper()
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

    func removeAll() {
        shared.removeAll()
        others.withLock { $0.removeAll() }
    }
}

extension OriginPassword {
    fileprivate func isSame(as other: OriginPassword) -> Bool {
        origin.isSame(as: other.origin) && password == other.password
    }
}
