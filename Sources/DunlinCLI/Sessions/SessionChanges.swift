import Dunlin

/// What one run changes in a session: other runs may have changed it meanwhile, and lose nothing by this one.
///
/// A cookie is known by name, domain, path and whether it is for that host alone. What the run has not touched stays as
/// the other runs left it.
struct SessionChanges: Sendable {
    private struct Key: Hashable {
        let name: String
        let domain: String
        let path: String
        let isHostOnly: Bool

        init(_ cookie: HTTP.Cookie) {
            (name, domain, path, isHostOnly) = (cookie.name, cookie.domain, cookie.path, cookie.isHostOnly)
        }
    }

    private let changed: [HTTP.Cookie]
    private let removed: Set<Key>
    private let credentials: SessionCredentials?
    /// The session's next ID; nil if it stays the same login.
    private let nextID: String?

    /// The cookies of the session when the run began, and all that it had when it ended. `credentials` are new ones;
    /// nil for no change. With a `loginID`, which says that the run may have been a login, it was one if it brought
    /// other cookies, or new credentials.
    init(
        from before: [HTTP.Cookie], to after: [HTTP.Cookie], credentials: SessionCredentials? = nil,
        loginID: String? = nil
    ) {
        let known = Dictionary(before.map { (Key($0), $0) }) { $1 }
        changed = after.filter { known[Key($0)] != $0 }
        removed = Set(known.keys).subtracting(after.map(Key.init))
        self.credentials = credentials
        let isOther = !removed.isEmpty || changed.contains { known[Key($0)]?.value != $0.value }
        nextID = isOther || credentials != nil ? loginID : nil
    }

    var isEmpty: Bool { changed.isEmpty && removed.isEmpty && credentials == nil }

    /// The session with the changes; it takes credentials only for its own origin.
    func applied(to session: StoredSession, from origin: HTTP.Origin) -> StoredSession {
        var session = session
        var positions: [Key: Int] = [:]
        session.cookies.removeAll { removed.contains(Key($0)) }
        for (index, cookie) in session.cookies.enumerated() { positions[Key(cookie)] = index }
        for cookie in changed {
            if let index = positions[Key(cookie)] {
                session.cookies[index] = cookie
            } else {
                session.cookies.append(cookie)
            }
        }
        if let credentials, session.origin.isSame(as: origin) { session.credentials = credentials }
        session.id = nextID ?? session.id
        return session
    }
}
