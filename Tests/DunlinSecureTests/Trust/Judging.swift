import DunlinSecure
import DunlinTesting
import DunlinTypes
import Testing

/// What a decision came to, short enough for a table.
enum Verdict: Equatable {
    case accepted
    case refused(NetworkError.TrustRefusal.Reason)

    init(_ decision: HTTP.TrustDecision) {
        switch decision {
        case .accepted: self = .accepted
        case .refused(let refusal): self = .refused(refusal.reason)
        }
    }
}

/// Decides about chains with given roots, twice: what is remembered of the first time must change nothing.
func decide(
    _ chain: [Bytes], for host: String = "api.test", roots: [Bytes], staple: Bytes? = nil, at time: Int64? = nil,
    _ change: (inout TrustRules) throws -> Void = { _ in }
) throws -> HTTP.TrustDecision {
    var rules = TrustRules()
    try change(&rules)
    let evaluator = try TrustEvaluator(rules, roots: TrustStore(roots.compactMap { Certificate(der: $0) }))
    let decision = evaluator.decide(chain, host: HostIdentity(host), staple: staple, at: time)
    #expect(evaluator.decide(chain, host: HostIdentity(host), staple: staple, at: time) == decision)
    return decision
}

extension HTTP.TrustDecision {
    var refusal: NetworkError.TrustRefusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    var path: [Bytes]? {
        if case .accepted(let path) = self { path.map(\.der) } else { nil }
    }
}

extension IssuedCertificate {
    var certificate: Certificate? { Certificate(der: der) }
    var publicKey: Certificate.Fingerprint? { certificate?.details.publicKey }
}

/// A certificate that makes its case when a test runs, and its name in a table.
struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var host = "api.test"
    var verdict: Verdict
    var make: @Sendable (CertificateAuthority) throws -> [Bytes]

    init(
        _ name: String, _ verdict: Verdict, host: String = "api.test",
        _ make: @escaping @Sendable (CertificateAuthority) throws -> [Bytes]
    ) {
        self.name = name
        self.host = host
        self.verdict = verdict
        self.make = make
    }

    var testDescription: String { name }
}
