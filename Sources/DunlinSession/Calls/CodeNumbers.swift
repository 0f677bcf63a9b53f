internal import Synchronization

/// Gives each of the user's objects a number that is unique across processes, for as long as the object lives.
/// Addresses would be reused.
final class CodeNumbers: Sendable {
    private struct Known {
        weak var object: AnyObject?
        let number: String
    }

    static let shared = CodeNumbers()

    private let known = Mutex<[ObjectIdentifier: Known]>([:])

    /// The number of an object; nil for a value that is not an object and cannot be recognised.
    func number(of code: any Sendable) -> String? {
        guard type(of: code) is any AnyObject.Type else { return nil }
        return known.withLock { known in
            let object = code as AnyObject
            let id = ObjectIdentifier(object)
            if let found = known[id], found.object === object { return found.number }
            known = known.filter { $0.value.object != nil }
            let number = UniqueNumber.next()
            known[id] = Known(object: object, number: number)
            return number
        }
    }
}
