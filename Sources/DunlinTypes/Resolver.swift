/// A type that looks up the addresses of host names. It is not asked about numeric hosts.
///
/// It is asked once for all requests that want the same name at the same time, and not at all while the session has the
/// answer cached. An implementation must be safe to call from many tasks at once, and should end promptly when its task
/// is cancelled.
public protocol Resolver: Sendable {
    /// Returns the addresses in order of preference; an empty answer counts as "no such host". If there are more than
    /// 64, the first ones of both families are used, alternating.
    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress]
}

/// Why a name has no addresses. A resolver may throw any error; only this one says whether the failure may be cached.
public struct ResolverError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The name does not exist or has no address. This is cached for a short while.
        case noSuchName
        /// Too many look-ups are waiting; no server was asked.
        case overloaded
        /// No server answered; asking again may help.
        case unanswered
    }

    public var kind: Kind
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
