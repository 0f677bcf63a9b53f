internal import Synchronization

/// The user of a session, where only its code knows: its authenticator, handler or interceptors, or who filled its jar.
///
/// By default the user is unique: another session with the same code may have another user, and so may the next run of
/// the program. Sessions with the same jar have its user, and those whose configurations name the same user that one.
struct SessionUser: Sendable {
    let name: String?
    /// A number that no other session has, in any process.
    let number = UniqueNumber.next()

    var isNamed: Bool { name != nil }

    /// The sign of this user. `source` is the code that knows the user, and `part` the part of it that is asked. `era`
    /// distinguishes the users that a session without a name may have had in turn.
    func sign(_ source: Access.Sign.Source, part: String = "all", era: String = "") -> Access.Sign {
        .session(source, part: part, name.map { "named \($0)" } ?? "session \(number) \(era)")
    }

    /// The sign of the user whose cookies a jar has: a jar belongs to one user.
    func sign(_ jar: CookieJar) -> Access.Sign {
        .session(.jar, part: "all", name.map { "named \($0)" } ?? "jar \(jar.number)")
    }

    /// The servers that this session's handler may have trusted, as text. A name vouches for them as for the user.
    var trust: String { name.map { "handler named \($0)" } ?? "handler \(number)" }

    /// The way by which the session's own code, a resolver or transport, leads to servers, as text. It is the same for
    /// sessions with the same object, and a name vouches for it too.
    func route(by code: any Sendable) -> String {
        if let name { return "code named \(name)" }
        return "code \(CodeNumbers.shared.number(of: code) ?? number)"
    }
}

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
