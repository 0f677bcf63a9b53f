package import DunlinTypes

/// The terms that were chosen for a request before it was sent, because somebody had to know them: whoever chooses may
/// choose anew each time that he is asked.
public final class ChosenTerms: Sendable {
    private let origin: HTTP.Origin
    private let target: String
    /// Nil if the connection is made as usual.
    package let terms: ConnectionTerms?

    package init(_ head: RequestHead, by rules: ConnectionRules?) throws {
        (origin, target) = (head.origin, head.target)
        terms = try rules?.terms(for: head)
    }

    /// Whether a request asks for the same URL, which is what terms are chosen by.
    package func areFor(_ head: RequestHead) -> Bool { head.target == target && head.origin == origin }
}
