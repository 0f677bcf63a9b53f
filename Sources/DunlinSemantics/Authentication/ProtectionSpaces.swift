internal import DunlinTypes

/// The protection spaces that were met, and what gets into them (RFC 9110 §11.5): so no request need be refused first.
///
/// Rules:
/// 1. A space is an origin, a scheme and a realm.
/// 2. A request gets what belongs to the space that covers its path best: by the longest path; of those, what was used
///    last.
/// 3. A Basic space grows with each path that it was met at. A Digest space is what its last challenge says.
/// 4. Beyond its limit the store forgets what was used longest ago.
///
/// A proxy's spaces are kept in a store of their own, or under a text that is no origin's.
package struct ProtectionSpaces: Sendable {
    /// The credentials for a space.
    package enum Access: Sendable {
        /// The value of a field, the same for each request.
        case basic(String)
        case digest(DigestMachine)

        var scheme: Scheme {
            switch self {
            case .basic: .basic
            case .digest: .digest
            }
        }
    }

    package enum Scheme: Sendable, Hashable {
        case basic
        case digest
    }

    package struct Name: Sendable, Hashable {
        package let origin: String
        package let scheme: Scheme
        private let realm: ExactText

        package init(origin: String, scheme: Scheme, realm: String) {
            self.origin = origin
            self.scheme = scheme
            self.realm = ExactText(realm)
        }

        package func isOf(realm: String) -> Bool { self.realm.string.hasSameBytes(as: realm) }
    }

    private struct Space: Sendable {
        var access: Access
        var scope: ProtectionScope
    }

    private var spaces: RecentValues<Name, Space>

    package init(limit: Int = 100) {
        spaces = RecentValues(limit: max(0, limit))
    }

    package var count: Int { spaces.count }

    /// Keeps credentials that were accepted. Returns the space's name, to remove it by.
    @discardableResult
    package mutating func keep(_ access: Access, origin: String, realm: String, scope: ProtectionScope) -> Name {
        let name = Name(origin: origin, scheme: access.scheme, realm: realm)
        let former = access.scheme == .basic ? spaces[name]?.scope : nil
        spaces.keep(Space(access: access, scope: former?.joined(with: scope) ?? scope), for: name)
        return name
    }

    /// Returns the space of a request that has not been challenged; nil for none. `target` is in origin form.
    package func name(for origin: String, target: String) -> Name? {
        var best: (name: Name, depth: Int)?
        for (name, space) in spaces.latestFirst where name.origin == origin {
            guard let depth = space.scope.depth(of: target), depth > best?.depth ?? -1 else { continue }
            best = (name, depth)
        }
        return best?.name
    }

    /// Uses the credentials for a space, as a machine counts its answers. Nil if the space is unknown.
    package mutating func use<Result, Failure: Error>(
        _ name: Name, _ body: (inout Access) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        _ = spaces.use(name)
        return try spaces.change(name) { space throws(Failure) in try body(&space.access) }
    }

    /// Removes a space, for example after its password was refused.
    package mutating func remove(_ name: Name) {
        spaces.remove(name)
    }

    package mutating func removeAll() {
        spaces.removeAll()
    }
}

extension ProtectionSpaces.Access: CustomStringConvertible, CustomReflectable {
    /// Shows nothing secret.
    package var description: String {
        switch self {
        case .basic: "Basic authentication"
        case .digest(let machine): machine.description
        }
    }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
