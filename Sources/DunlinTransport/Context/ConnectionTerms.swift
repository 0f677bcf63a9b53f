package import DunlinSemantics
package import DunlinTypes

/// Under which terms a connection is made, beside where to. Connections are shared only under equal terms.
final class ConnectionTerms: Sendable {
    /// Judges what is dialled; nil for no guard.
    let guardRules: GuardRules?
    /// The proxy that leads to the origin, with its credentials; nil for the direct way.
    let proxy: ProxyAddress?

    init(_ guardRules: GuardRules?, _ proxy: ProxyAddress? = nil) {
        self.guardRules = guardRules
        self.proxy = proxy
    }

    /// Neither guard nor proxy.
    static let none = ConnectionTerms(nil)
}

extension ConnectionTerms: Hashable {
    static func == (left: ConnectionTerms, right: ConnectionTerms) -> Bool {
        left === right || (left.guardRules == right.guardRules && left.proxy == right.proxy)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(guardRules)
        hasher.combine(proxy)
    }
}

extension ConnectionTerms: HTTP.Route.Terms {
    func areSame(as other: any HTTP.Route.Terms) -> Bool {
        (other as? ConnectionTerms).map { self == $0 } ?? false
    }
}

/// What terms connections are made under: a session's rules, or those of one request in their place.
public final class ConnectionRules: Sendable {
    /// Chooses a proxy for a request. Called on a loop for each exchange.
    package typealias ProxyChooser = @Sendable (RequestHead) throws -> ProxyChoice

    package let guardRules: GuardRules?
    /// Nil for the direct way.
    package let chooseProxy: ProxyChooser?
    /// The terms of the direct way; nil for none.
    let direct: ConnectionTerms?

    package init(_ guardRules: GuardRules?, _ chooseProxy: ProxyChooser?) {
        self.guardRules = guardRules
        self.chooseProxy = chooseProxy
        direct = guardRules.map { ConnectionTerms($0) }
    }

    /// Nil if the connection is made as usual.
    func terms(for head: RequestHead) throws -> ConnectionTerms? {
        guard case .proxy(let proxy)? = try chooseProxy?(head) else { return direct }
        return ConnectionTerms(guardRules, proxy)
    }
}

extension HTTP.Origin {
    /// The origin with terms as a part of its identity.
    func under(_ terms: ConnectionTerms) -> HTTP.Origin {
        var route = route ?? HTTP.Route()
        route.terms = terms
        return over(route)
    }
}
