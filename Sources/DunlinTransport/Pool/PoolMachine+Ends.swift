internal import DunlinTypes

extension PoolMachine {
    /// Why a connection may not be used any more, whatever it was closed for; nil if it could have been used on.
    func reason(of connection: some PoolMember, at now: HTTP.Instant) -> HTTP.EndedConnection.Reason? {
        if isClosed { return .shutDown }
        if connection.tlsGeneration < tlsGeneration || connection.proxyTLSGeneration < proxyTLSGeneration {
            return .outdated
        }
        return connection.opened.advanced(by: limits.age) <= now || connection.uses >= limits.uses ? .worn : nil
    }
}
