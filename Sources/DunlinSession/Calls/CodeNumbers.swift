internal import Synchronization

/// Tells the user's objects apart: each has one number for as long as it lives, which no other has, in any process.
/// Addresses would be given again to others.
final class CodeNumbers: Sendable {
    private struct Known {
        weak var object: AnyObject?
        let number: String
    }

    static let shared = CodeNumbers()

    private let known = Mutex<[ObjectIdentifier: Known]>([:])

    /// Nil for what is no object, and has nothing by which to know it again.
    func number(of code: any Sendable) -> String? {
        guard type(of: code) is any AnyObject.Type else { return nil }
        return known.withLock { known in
            let object = code as AnyObject
            let id = ObjectIdentifier(object)
            if let found = known[id], found.object === object { return found.number }
            known = known.filter { $0.value.object != nil }
            let number = SessionUser.newNumber()
            known[id] = Known(object: object, number: number)
            return number
        }
    }
}
