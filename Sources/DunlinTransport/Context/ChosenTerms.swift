package import DunlinTypes

/// The terms that were chosen for a request before it was sent, because they had to be known: a chooser may choose
/// differently each time.
public final class ChosenTerms: Sendable {
    private let origin: HTTP.Origin
    private let target: String
    /// The terms; nil for the usual ones.
    package let terms: ConnectionTerms?

    package init(_ head: RequestHead, by rules: ConnectionRules?, inTunnel: Bool = false) throws {
        (origin, target) = (head.origin, head.target)
        terms = try rules?.terms(for: head, inTunnel: inTunnel)
    }

    /// Whether a request has the same URL, which the choice depends on.
    package func areFor(_ head: RequestHead) -> Bool { head.target == target && head.origin == origin }
}
