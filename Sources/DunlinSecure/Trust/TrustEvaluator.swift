internal import COpenSSL
package import DunlinTypes
internal import Synchronization

/// Decides whether a server is trusted, by rules, roots and pins that are prepared once for all connections of a
/// configuration.
package final class TrustEvaluator: Sendable {
    package let rules: TrustRules
    /// The digest of everything a decision depends on. Sessions are resumed only under the same key.
    package let key: Certificate.Fingerprint
    let roots: TrustStore
    /// The pinned certificates as anchors, for pins that have some.
    let anchors: [TrustRules.Pins: TrustStore]
    let lists: Owned?
    private let accepted = Mutex(AcceptedPaths())

    package init(_ rules: TrustRules, roots: TrustStore) throws(NetworkError.TrustConfigurationError) {
        self.rules = rules
        self.roots = roots
        var anchors: [TrustRules.Pins: TrustStore] = [:]
        for pins in [rules.pins] + rules.hosts.values where !pins.certificates.isEmpty {
            anchors[pins] = try TrustStore(pins.certificates)
        }
        self.anchors = anchors
        lists = RevocationListFile.opened(rules.revocation.lists)
        key = X509Reading.fingerprint(Bytes(rules.canonicalText + "\nroots \(roots.digest)")) ?? .zero
    }

    /// Decides for OpenSSL's verify callback: `context` is its `X509_STORE_CTX`, and remains OpenSSL's.
    package func decide(
        context: OpaquePointer, host: HostIdentity, staple: Bytes? = nil
    ) -> HTTP.TrustDecision {
        decide(
            leaf: X509_STORE_CTX_get0_cert(context), sent: X509_STORE_CTX_get0_untrusted(context), host: host,
            staple: staple)
    }

    /// Decides on a chain. `leaf` is an `X509`, `sent` the `STACK_OF(X509)` that came with it, with or without the
    /// leaf; both remain the caller's. `time` is in seconds since 1970; nil is now.
    package func decide(
        leaf: OpaquePointer?, sent: OpaquePointer?, host: HostIdentity, staple: Bytes? = nil, at time: Int64? = nil
    ) -> HTTP.TrustDecision {
        guard let leaf else { return .refused(NetworkError.TrustRefusal(.noCertificate, host: host.text)) }
        guard rules.revocation.isIgnored, let presented = Self.bytes(of: leaf, sent, host) else {
            return judge(leaf, sent, host, staple, time).decision
        }
        if let path = accepted.withLock({ $0.path(for: presented, at: time ?? X509Reading.now) }) {
            return .accepted(path: path)
        }
        let (decision, validity) = judge(leaf, sent, host, staple, time)
        if case .accepted(let path) = decision {
            accepted.withLock { $0.remember(path, for: presented, while: validity) }
        }
        return decision
    }

    private func judge(
        _ leaf: OpaquePointer, _ sent: OpaquePointer?, _ host: HostIdentity, _ staple: Bytes?, _ time: Int64?
    ) -> (decision: HTTP.TrustDecision, validity: PathValidity) {
        var evaluation = TrustEvaluation(
            evaluator: self, leaf: leaf, sent: sent, host: host, staple: staple, time: time)
        return (evaluation.decision(), evaluation.validity)
    }

    /// Returns the certificates' bytes; nil if one cannot be written.
    private static func bytes(
        of leaf: OpaquePointer, _ sent: OpaquePointer?, _ host: HostIdentity
    ) -> PresentedBytes? {
        let others = X509Path.pointers(sent).filter { $0 != leaf }
        let certificates = ([leaf] + others).compactMap(X509Reading.der)
        guard certificates.count == others.count + 1 else { return nil }
        return PresentedBytes(host: host, certificates: certificates)
    }

    /// The number of remembered paths, for tests.
    var remembered: Int { accepted.withLock { $0.count } }

    /// Decides on certificates as bytes, the server's own first.
    package func decide(
        _ chain: [Bytes], host: HostIdentity, staple: Bytes? = nil, at time: Int64? = nil
    ) -> HTTP.TrustDecision {
        guard let first = chain.first else {
            return .refused(NetworkError.TrustRefusal(.noCertificate, host: host.text))
        }
        guard let leaf = ParsedCertificate(der: first), let sent = X509Path() else {
            return .refused(
                NetworkError.TrustRefusal(.malformed, host: host.text, depth: 0, detail: "it cannot be read"))
        }
        for der in chain.dropFirst() {
            if let parsed = ParsedCertificate(der: der) { sent.append(parsed.pointer) }
        }
        return decide(leaf: leaf.pointer, sent: sent.stack, host: host, staple: staple, at: time)
    }
}

extension TrustRules {
    /// A text that is equal for equal rules in every process.
    var canonicalText: String {
        let patterns = hosts.map { "\($0.key.text): \($0.value.canonicalText)" }.sorted()
        let lists = revocation.lists.compactMap { X509Reading.fingerprint($0)?.description }.sorted()
        return """
            mode \(mode.rawValue) \(position.rawValue) \(requiresPins) \(allowsInvalid) \(checksHost) \
            \(maximumIntermediates) \(isStrict)
            revocation \(revocation.staple.rawValue) \(revocation.coversAuthorities) \(revocation.allowsMissingLists) \
            \(lists.joined(separator: " "))
            pins \(pins.canonicalText)
            \(patterns.joined(separator: "\n"))
            """
    }
}

extension TrustRules.Pins {
    fileprivate var canonicalText: String {
        let keys = keys.sorted().map(\.description)
        let certificates = certificates.map(\.details.fingerprint).sorted().map(\.description)
        return (keys + ["|"] + certificates).joined(separator: " ")
    }
}
