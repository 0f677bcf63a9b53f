import DunlinSecure
import DunlinTypes
import Synchronization

/// Decides as the test says, and counts how often it was asked.
final class TestTrust: PeerTrust {
    let key: Certificate.Fingerprint
    private let verdict: HTTP.TrustDecision
    private let stillAccepted: Bool
    private let count = Atomic<Int>(0)
    private let lastStaple = Mutex<Bytes?>(nil)

    init(_ verdict: HTTP.TrustDecision = .accepted(path: []), key: UInt8 = 0, stillAccepts: Bool = true) {
        self.verdict = verdict
        self.key = Certificate.Fingerprint(unchecked: Bytes([UInt8](repeating: key, count: 32)))
        stillAccepted = stillAccepts
    }

    static let refusal = NetworkError.TrustRefusal(.unknownIssuer, host: "api.test")
    static let refusing = HTTP.TrustDecision.refused(refusal)

    var staple: Bytes? { lastStaple.withLock { $0 } }
    var decisions: Int { count.load(ordering: .relaxed) }

    func decide(on presented: borrowing PresentedChain) -> HTTP.TrustDecision {
        count.add(1, ordering: .relaxed)
        let staple = presented.staple
        lastStaple.withLock { $0 = staple }
        return verdict
    }

    func stillAccepts(_ path: [Certificate], at now: Int64) -> Bool { stillAccepted }
}
