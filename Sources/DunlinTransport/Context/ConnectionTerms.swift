package import DunlinSemantics
package import DunlinTypes

/// The terms of a connection, in addition to its destination. Connections are shared only under equal terms.
package final class ConnectionTerms: Sendable {
    /// The guard that judges what is dialled; nil for none.
    package let guardRules: GuardRules?
    /// The proxy to the origin, with its credentials; nil for the direct way.
    package let proxy: ProxyAddress?
    /// Whether the proxy reads and forwards requests; then one connection to it serves all origins.
    let isForwarding: Bool

    init(_ guardRules: GuardRules?, _ proxy: ProxyAddress? = nil, isForwarding: Bool = false) {
        self.guardRules = guardRules
        self.proxy = proxy
        self.isForwarding = isForwarding
    }

    /// Neither guard nor proxy.
    static let none = ConnectionTerms(nil)
}

extension ConnectionTerms: Hashable {
    package static func == (left: ConnectionTerms, right: ConnectionTerms) -> Bool {
        left === right
            || (left.isForwarding == right.isForwarding && left.guardRules == right.guardRules
                && left.proxy == right.proxy)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(guardRules)
        hasher.combine(proxy)
    }
}

extension ConnectionTerms: HTTP.Route.Terms {
    package func areSame(as other: any HTTP.Route.Terms) -> Bool {
        (other as? ConnectionTerms).map { self == $0 } ?? false
    }

    package func name(of origin: HTTP.Origin) -> String? {
        proxy.map { isForwarding ? "the proxy \($0)" : "\(origin) through \($0)" }
    }
}

/// The rules by which the terms of connections are chosen: a session's, or one request's own.
public final class ConnectionRules: Sendable {
    /// Chooses a proxy for a request. Called on a loop for each exchange.
    package typealias ProxyChooser = @Sendable (RequestHead) throws -> ProxyChoice

    package let guardRules: GuardRules?
    /// The chooser; nil for the direct way.
    package let chooseProxy: ProxyChooser?
    /// The terms of the direct way; nil for none.
    let direct: ConnectionTerms?

    package init(_ guardRules: GuardRules?, _ chooseProxy: ProxyChooser?) {
        self.guardRules = guardRules
        self.chooseProxy = chooseProxy
        direct = guardRules.map { ConnectionTerms($0) }
    }

    /// The terms for a request; nil for the usual ones. A proxy that could read the request forwards it unread if it
    /// must go `inTunnel`.
    package func terms(for head: RequestHead, inTunnel: Bool = false) throws -> ConnectionTerms? {
        guard case .proxy(let proxy)? = try chooseProxy?(head) else { return direct }
        let isForwarding = head.origin.scheme == .http && !proxy.scheme.isSOCKS && !inTunnel
        return ConnectionTerms(guardRules, proxy, isForwarding: isForwarding)
    }
}

extension HTTP.Origin {
    /// The key of the pool's connections: the origin or the forwarding proxy, with the terms as part of its identity.
    func under(_ terms: ConnectionTerms) -> HTTP.Origin {
        var route = route ?? HTTP.Route()
        route.terms = terms
        guard terms.isForwarding, let proxy = terms.proxy else { return over(route) }
        return HTTP.Origin(
            scheme: proxy.scheme == .https ? .https : .http, host: proxy.host, port: proxy.port, route: route)
    }
}
