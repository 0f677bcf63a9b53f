/// Turns a host name into addresses. Numeric hosts never get here.
///
/// Called once per new connection; an implementation must be safe to call from many tasks at once and should end
/// promptly when its task is cancelled.
public protocol Resolver: Sendable {
    /// Addresses in order of preference; an empty answer counts as "no such host".
    func addresses(of host: String, port: UInt16) async throws -> [SocketAddress]
}
