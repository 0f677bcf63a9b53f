internal import DunlinTypes

/// The paths of an origin that belong to a protection space (RFC 9110 §11.5), as far as a client can know.
package struct ProtectionScope: Sendable, Hashable {
    /// The paths, each with everything below it. Empty if nothing is known to be covered.
    package private(set) var paths: [String]

    /// The limit of a space's paths; the oldest is dropped.
    static let mostPaths = 32

    /// Everything on an origin or a proxy.
    package static let everything = ProtectionScope(paths: ["/"])

    private init(paths: [String]) {
        self.paths = paths
    }

    /// Returns the scope of Basic credentials requested at a target: its directory, and everything below (RFC 7617
    /// §2.2).
    package static func basic(_ target: String) -> ProtectionScope {
        let path = path(of: target)
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ProtectionScope(paths: []) }
        return ProtectionScope(paths: [String(path[...slash])])
    }

    /// Returns a Digest challenge's domain (RFC 7616 §3.3), or everything; for a proxy always everything.
    ///
    /// Of the URIs only those of the same origin count: no server may say what is sent to another one. Those with a
    /// query do not count either, for they would cover less than a path.
    package static func digest(
        _ challenge: DigestChallenge, at address: WebAddress, from challenger: Challenger = .origin
    ) -> ProtectionScope {
        if challenge.domain.isEmpty || challenger == .proxy { return .everything }
        return ProtectionScope(
            paths: challenge.domain.compactMap { text in
                do throws(AddressError) {
                    let uri = try address.resolving(text)
                    return uri.origin.isSame(as: address.origin) && uri.query == nil ? uri.path : nil
                } catch {
                    return nil
                }
            })
    }

    /// How long the longest path is that covers a target in origin form; nil if none does.
    ///
    /// Whole segments count: `/a` covers `/a/b` and not `/ab`. A path that a server may take for one with dot segments
    /// is covered by everything only: nobody knows where it leads.
    func depth(of target: String) -> Int? {
        let path = Self.path(of: target).utf8
        let least = paths.contains("/") ? 1 : nil
        if Self.hasHiddenDots(path) { return least }
        return paths.map(\.utf8).filter { Self.isPath(path, within: $0) }.map(\.count).max() ?? least
    }

    private static func isPath(_ path: Substring.UTF8View, within other: String.UTF8View) -> Bool {
        guard path.starts(with: other) else { return false }
        let slash = UInt8(ascii: "/")
        return path.count == other.count || other.last == slash || path.dropFirst(other.count).first == slash
    }

    /// Returns the scope with the paths of the other, which is newer.
    func joined(with other: ProtectionScope) -> ProtectionScope {
        let old = paths.filter { !other.paths.contains($0) }
        return ProtectionScope(paths: Array((old + other.paths).suffix(Self.mostPaths)))
    }

    private static func path(of target: String) -> Substring {
        target.prefix { $0 != "?" }
    }

    /// Whether a path has `%2e` or `%2f`, which are kept as written but decoded by many servers.
    private static func hasHiddenDots(_ path: Substring.UTF8View) -> Bool {
        let lowered = String(decoding: path, as: UTF8.self).lowercased()
        return lowered.contains("%2e") || lowered.contains("%2f") || lowered.contains("%5c")
    }
}
