package import DunlinTypes

/// The evaluator's trust in one host.
package struct HostTrust: PeerTrust {
    private let evaluator: TrustEvaluator
    private let host: HostIdentity

    package init(_ evaluator: TrustEvaluator, for host: HostIdentity) {
        self.evaluator = evaluator
        self.host = host
    }

    package var key: Certificate.Fingerprint { evaluator.key }

    package func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision {
        evaluator.decide(leaf: presented.leaf, sent: presented.chain, host: host, staple: presented.staple)
    }

    /// Whether the path is still accepted. Equal keys mean equal rules; but a certificate has expired, perhaps before
    /// it was accepted, so the rules are asked again.
    package func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool {
        if case .accepted = evaluator.decide(path.map(\.der), host: host, at: now) { return true }
        return false
    }
}
