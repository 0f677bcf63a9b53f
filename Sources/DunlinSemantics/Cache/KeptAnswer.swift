package import DunlinTypes

/// An answer as it is kept outside a store of responses: for each hop who asked, and what a cache would store of it.
///
/// Rules:
/// 1. It is for who asks as the same user and under the same terms, at each hop, and for nobody else. (A cache gives
///    everybody what was requested without credentials; what is made of it may be shown where that is not known.)
/// 2. Each hop must lead to the next one, and the fields of each must be selected by who asks.
/// 3. It is given while each hop is fresh. A redirect is fresh as long as it says. The last answer is fresh for ever if
///    it says nothing of its lifetime.
/// 4. Otherwise its last hop is asked about.
package struct KeptAnswer: Sendable {
    package struct Step: Sendable {
        let asker: CacheAsker.Name
        let entry: CacheEntry
    }

    package enum Verdict: Sendable, Equatable {
        case give
        /// It may be given once the server has confirmed it, asked with these fields. If there are none, it is
        /// outdated.
        case ask(Fields)
        /// It is not for them.
        case no
    }

    /// The hops; empty for what came from no answer, which is for all who know its name.
    package private(set) var steps: [Step] = []
    /// The same after it was confirmed.
    private let origin: Origin

    private final class Origin: Sendable {}

    package init() { self.init(confirming: nil) }

    fileprivate init(confirming former: KeptAnswer?) {
        origin = former?.origin ?? Origin()
    }

    /// Whether somebody may be given it now. `request` is what they ask for after the answer of a hop; nil before the
    /// first, and nil is returned if they would ask for nothing.
    package func verdict(
        at now: Int64, _ rules: CacheRules, _ request: (ResponseHead?) -> (CacheRequest, CacheAsker.Name)?
    ) -> Verdict {
        var (isFresh, previous, last) = (true, ResponseHead?.none, CacheMachine?.none)
        for step in steps {
            guard let (asked, asker) = request(previous), asker == step.asker, asked.key == step.entry.key,
                step.entry.selecting.matches(asked.head.fields, rules)
            else { return .no }
            let machine = CacheMachine(asked, candidates: [step.entry], rules: rules)
            isFresh = isFresh && !machine.isBypassed && machine.usability(of: step.entry, at: now) == .servable
            last = machine
            previous = ResponseHead(status: step.entry.status, fields: step.entry.fields)
        }
        return isFresh ? .give : .ask(last?.validation ?? Fields())
    }

    /// Whether whoever is given the other one would be given this one instead: a newer one takes its place.
    package func supersedes(_ other: KeptAnswer) -> Bool {
        if origin === other.origin { return true }
        for (step, old) in zip(steps, other.steps) {
            // The hop before leads elsewhere now.
            if step.entry.key != old.entry.key { return true }
            if step.asker != old.asker || step.entry.selecting != old.entry.selecting { return false }
        }
        return true
    }

    /// About how many bytes it takes.
    package var byteCount: Int {
        steps.reduce(0) { count, step in
            let fields = step.entry.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
            return count + fields + step.entry.key.text.utf8.count + (step.asker.user?.count ?? 0)
                + step.asker.terms.utf8.count
        }
    }
}

extension Provenance {
    /// Whether an answer without a body confirms what is kept: it came the same way, for the same who asked for it.
    package func confirms(_ kept: KeptAnswer, _ rules: CacheRules) -> Bool {
        guard let last = steps.last, steps.count == kept.steps.count, let entry = kept.steps.last?.entry else {
            return false
        }
        let isSame = zip(steps, kept.steps).allSatisfy { step, old in
            step.isOfOne && step.request.key == old.entry.key && step.request.asker.named == old.asker
        }
        return isSame && entry.selecting.matches(last.asked(last.answer).head.fields, rules)
            && Confirmation.names(entry, in: last.answer.fields) ?? true
    }

    /// The provenance of what is the same under another name than its URL, and for who asked before code of the
    /// session's added anything; nil for those that the first hop has.
    package func renamed(_ key: CacheKey?, for asker: CacheAsker?) -> Provenance {
        var renamed = self
        renamed.changeFirst { request in
            if let key { request = request.named(key) }
            if let asker { request = request.asked(by: asker) }
        }
        return renamed
    }

    /// The answer as it is kept; nil if it may not be given again. `head` is what was delivered of it at `now`, and
    /// `former` what it confirms.
    package func kept(
        _ head: ResponseHead, at now: Int64, confirming former: KeptAnswer? = nil, _ rules: CacheRules
    ) -> KeptAnswer? {
        var kept = KeptAnswer(confirming: former)
        // By the clock of whoever keeps it.
        let passed = now - (steps.last?.receivedAt ?? 0)
        for (index, step) in steps.enumerated() {
            let isLast = index == steps.count - 1
            var rules = rules
            if isLast { rules.unsaidLifetime = .max }
            let exchange = step.exchange(isLast ? head : step.answer, passed, rules)
            let confirmed = isLast ? former?.steps.last?.entry : nil
            guard step.isOfOne,
                let entry = confirmed.map({ $0.updated(by: exchange, rules: rules) })
                    ?? Storability.entry(of: exchange, rules)
            else { return nil }
            kept.add(step.request.asker.named, entry)
        }
        return steps.isEmpty ? nil : kept
    }
}

extension KeptAnswer {
    fileprivate mutating func add(_ asker: CacheAsker.Name, _ entry: CacheEntry) {
        steps.append(Step(asker: asker, entry: entry))
    }
}

extension Provenance.Step {
    fileprivate var isOfOne: Bool { isConfirmed && !isElsewhere }

    /// The request as the answer depends on it.
    fileprivate func asked(_ answer: ResponseHead) -> CacheRequest {
        request.sent(with: sent.fields, answeredBy: answer)
    }

    /// The exchange. Its owner is kept beside it.
    fileprivate func exchange(
        _ answer: ResponseHead, _ passed: Int64, _ rules: CacheRules
    ) -> Storability.Exchange {
        let asked = asked(answer)
        return Storability.Exchange(
            request: asked.asked(by: CacheAsker(terms: asked.asker.terms, fields: Fields())), head: answer,
            sent: sent.fields, secretFields: rules.secretFields, sentAt: sentAt + passed,
            receivedAt: receivedAt + passed)
    }
}
