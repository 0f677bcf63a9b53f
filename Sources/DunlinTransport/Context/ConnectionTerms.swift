package import DunlinSemantics
package import DunlinTypes

/// Under which terms connections are made, beside where to: a session's, or those of one request in their place.
///
/// Connections are shared only under equal terms. Those of a session are in no key of the pool, which is for that
/// session alone.
public final class ConnectionTerms: Sendable {
    /// Judges what is dialled; nil for no guard.
    package let guardRules: GuardRules?

    package init(guardRules: GuardRules?) {
        self.guardRules = guardRules
    }
}

extension ConnectionTerms: Hashable {
    public static func == (left: ConnectionTerms, right: ConnectionTerms) -> Bool {
        left === right || left.guardRules == right.guardRules
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(guardRules)
    }
}

extension ConnectionTerms: HTTP.Route.Terms {
    package func areSame(as other: any HTTP.Route.Terms) -> Bool {
        (other as? ConnectionTerms).map { self == $0 } ?? false
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
