/// Turns a host name into addresses. Numeric hosts never get here.
///
/// It is asked once for all who want the same name at the same time, and not at all while a session keeps the answer.
/// An implementation must be safe to call from many tasks at once, and should end promptly when its task is cancelled.
public protocol Resolver: Sendable {
    /// Addresses in order of preference; an empty answer counts as "no such host". Of more than 64 the first of either
    /// family are used, in turns.
    func addresses(of host: String, port: UInt16) async throws -> [HTTP.SocketAddress]
}

/// Why a name has no addresses. A resolver may throw any error; only this one says what may be kept.
public struct ResolverError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// The name does not exist or has no address. This is kept for a short while.
        case noSuchName
        /// Too many look-ups wait already; nobody was asked.
        case overloaded
        /// There was no answer: asking again may help.
        case unanswered
    }

    public var kind: Kind
    public var description: String

    public init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
