internal import COpenSSL
internal import DunlinTypes

/// One decision about one server.
///
/// Rules:
/// 1. Pins are compared with a verified path only. What a server sends beside it proves nothing: anybody can append a
///    certificate that is not his.
/// 2. Unless invalid certificates are allowed, there must be a path to a root, pinned or not.
/// 3. Where certificates are pinned, a path to one of them must verify as well, with nothing else believed in; so
///    validity and purpose are asked even where invalid certificates are allowed. A pinned intermediate is an anchor.
/// 4. Where keys are pinned and invalid certificates are allowed, a path to a certificate with a pinned key does,
///    whatever the time. Keys, signatures and purposes are still looked at.
/// 5. The host's name is compared on every way there is, unless the rules switch that off: with what the server's
///    certificate names, and with what each authority on the path may vouch for.
/// 6. A pin that is not on the first path that verifies may be on another, and so may authorities without objections.
struct TrustEvaluation {
    let evaluator: TrustEvaluator
    let leaf: OpaquePointer
    let sent: OpaquePointer?
    let host: HostIdentity
    let staple: Bytes?
    let time: Int64?
    /// The time in which all paths that the decision rests on are valid, including those that merely had to exist.
    private(set) var validity = PathValidity.always

    init(
        evaluator: TrustEvaluator, leaf: OpaquePointer, sent: OpaquePointer?, host: HostIdentity, staple: Bytes?,
        time: Int64?
    ) {
        self.evaluator = evaluator
        self.leaf = leaf
        self.sent = sent
        self.host = host
        self.staple = staple
        self.time = time
    }

    private var rules: TrustRules { evaluator.rules }

    mutating func decision() -> HTTP.TrustDecision {
        switch rules.demand(for: host) {
        case .refusal(let reason): refused(reason, at: Certificate(leaf))
        case .nothing: .accepted(path: [leaf].compactMap { Certificate($0) })
        case .roots: byRoots()
        case .pins(let pins): rules.mode == .certificate ? byCertificates(pins) : byKeys(pins)
        }
    }

    private mutating func byRoots() -> HTTP.TrustDecision {
        switch find(.store(evaluator.roots)) {
        case .path(let path, _): .accepted(path: path)
        case .objection(let refusal): .refused(refusal)
        case .failure(let failure): refused(failure)
        }
    }

    // MARK: Pins

    private mutating func byKeys(_ pins: TrustRules.Pins) -> HTTP.TrustDecision {
        let ordinary = find(.store(evaluator.roots)) { [self] owner in
            let keys = owner.pointers.map { X509Reading.publicKey($0) ?? .zero }
            if within(keys).contains(where: pins.keys.contains) { return nil }
            return mismatch(owner.certificates, seen: keys, expected: pins.keys)
        }
        switch ordinary {
        case .path(let path, _): return .accepted(path: path)
        case .objection(let refusal) where refusal.reason != .pinMismatch || !rules.allowsInvalid:
            return .refused(refusal)
        case .failure(let failure) where !rules.allowsInvalid: return refused(failure)
        case .objection, .failure: return byPinnedAnchor(pins)
        }
    }

    private mutating func byPinnedAnchor(_ pins: TrustRules.Pins) -> HTTP.TrustDecision {
        guard let anchors = X509Path() else { return refused(.internalError, at: nil) }
        let candidates = rules.position == .leaf ? [leaf] : [leaf] + X509Path.pointers(sent)
        for candidate in candidates where X509Reading.publicKey(candidate).map(pins.keys.contains) == true {
            anchors.append(candidate)
        }
        if rules.position == .any { pins.certificates.forEach(anchors.append) }
        switch find(.these(anchors), ignoresTime: true) {
        case .path(let path, _): return .accepted(path: upToAnchor(path) { pins.keys.contains($0.details.publicKey) })
        case .objection(let refusal): return .refused(refusal)
        case .failure(let failure):
            guard failure.isWithoutAnchor else { return refused(failure) }
            let found = path(of: failure)
            return .refused(mismatch(found, seen: found.map(\.details.publicKey), expected: pins.keys))
        }
    }

    private mutating func byCertificates(_ pins: TrustRules.Pins) -> HTTP.TrustDecision {
        var seen: [Certificate] = []
        if !rules.allowsInvalid {
            switch find(.store(evaluator.roots)) {
            case .failure(let failure): return refused(failure)
            case .objection(let refusal): return .refused(refusal)
            case .path(let path, _): seen = path
            }
        }
        let expected = Set(pins.certificates.map(\.details.fingerprint))
        guard let anchors = evaluator.anchors[pins] else {
            return .refused(mismatch(seen, seen: [], expected: expected))
        }
        let pinned = find(.store(anchors)) { [self] owner in
            let path = owner.certificates
            if within(path).contains(where: pins.certificates.contains) { return nil }
            return mismatch(path, seen: path.map(\.details.fingerprint), expected: expected)
        }
        switch pinned {
        case .path(let path, _): return .accepted(path: upToAnchor(path, pins.certificates.contains))
        case .objection(let refusal): return .refused(refusal)
        case .failure(let failure):
            guard failure.isWithoutAnchor else { return refused(failure) }
            let found = seen.isEmpty ? path(of: failure) : seen
            return .refused(mismatch(found, seen: found.map(\.details.fingerprint), expected: expected))
        }
    }

    /// Returns the part of a path where a pin counts.
    private func within<Element>(_ path: [Element]) -> ArraySlice<Element> {
        rules.position == .leaf ? path.prefix(1) : path[...]
    }

    /// Returns the path up to the anchor. OpenSSL continues above a server's certificate that is an anchor, with
    /// certificates that are not trusted.
    private func upToAnchor(_ path: [Certificate], _ isAnchor: (Certificate) -> Bool) -> [Certificate] {
        path.firstIndex(where: isAnchor).map { Array(path[...$0]) } ?? path
    }

    // MARK: Paths

    /// Finds a path without objections, either these or `objection`'s, which is called last.
    private mutating func find(
        _ anchors: PathVerifier.Anchors, ignoresTime: Bool = false,
        objection: (X509Path) -> NetworkError.TrustRefusal? = { _ in nil }
    ) -> PathFinder.Outcome {
        var finder = PathFinder(
            PathVerifier(
                anchors: anchors, ignoresTime: ignoresTime, isStrict: rules.isStrict,
                maximumIntermediates: rules.maximumIntermediates, revocation: rules.revocation,
                lists: evaluator.lists, time: time))
        let evaluation = self
        let outcome = finder.find(leaf, sent: sent) { evaluation.refusal(of: $0) ?? objection($0) }
        if case .path(let path, _) = outcome { validity.narrow(to: path) }
        return outcome
    }

    /// Returns the objection to a verified path: the host's name, its constraints, or the staple.
    private func refusal(of path: X509Path) -> NetworkError.TrustRefusal? {
        if rules.checksHost {
            if let refusal = refusalOfName(path.certificates) { return refusal }
            for (depth, authority) in path.pointers.enumerated().dropFirst() {
                guard X509Reading.nameConstraints(authority)?.permits(host) == true else {
                    return refusal(.nameNotPermitted, depth, Certificate(authority), path.certificates)
                }
            }
        }
        return stapleRefusal(path)
    }

    private func stapleRefusal(_ path: X509Path) -> NetworkError.TrustRefusal? {
        let wanted = rules.revocation.staple
        guard wanted != .ignored else { return nil }
        let unknown = { (detail: String) in
            refusal(.revocationUnknown, 0, Certificate(leaf), path.certificates, detail: detail)
        }
        guard let staple, !staple.isEmpty else {
            let isPromised = X509_get_ext_by_NID(leaf, NID_tlsfeature, -1) >= 0
            return wanted == .required || isPromised ? unknown("the server sent no stapled OCSP response") : nil
        }
        let pointers = path.pointers
        // If the server's certificate is the anchor, it has no issuer to ask.
        guard pointers.count > 1 else { return wanted == .required ? unknown("its issuer is not known") : nil }
        let now = time ?? X509Reading.now
        switch OCSPStaple(bytes: staple, leaf: leaf, issuer: pointers[1], now: now).finding() {
        case .good: return nil
        case .revoked: return refusal(.revoked, 0, Certificate(leaf), path.certificates)
        case .unknown(let detail): return unknown(detail)
        }
    }

    // MARK: Refusals

    private func path(of failure: PathVerifier.Failure) -> [Certificate] {
        failure.path.isEmpty ? [leaf].compactMap { Certificate($0) } : failure.path
    }

    private func mismatch(
        _ path: [Certificate], seen: [Certificate.Fingerprint], expected: Set<Certificate.Fingerprint>
    ) -> NetworkError.TrustRefusal {
        var refusal = NetworkError.TrustRefusal(
            .pinMismatch, host: host.text, certificate: path.first, path: path, seen: seen,
            expected: expected.sorted())
        refusal.comparesCertificates = rules.mode == .certificate
        return refusal
    }

    private func refused(_ failure: PathVerifier.Failure) -> HTTP.TrustDecision {
        let path = path(of: failure)
        var all = (failure.faults.isEmpty ? [failure.fault] : failure.faults).map { fault in
            refusal(
                VerificationCode.reason(fault.code), fault.depth, fault.certificate ?? Certificate(leaf), path,
                detail: VerificationCode.detail(fault.code))
        }
        if let name = refusalOfName(path) {
            // Formal faults come last.
            all.insert(name, at: all.firstIndex { $0.reason == .malformed } ?? all.count)
        }
        var first = all.removeFirst()
        first.others = all
        return .refused(first)
    }

    /// Returns the refusal of a certificate for other hosts, or none.
    private func refusalOfName(_ path: @autoclosure () -> [Certificate]) -> NetworkError.TrustRefusal? {
        guard rules.checksHost else { return nil }
        let names = X509Reading.names(leaf)
        guard !HostMatch.matches(host, names) else { return nil }
        return refusal(names.isEmpty ? .namesNoHost : .wrongHost, 0, Certificate(leaf), path())
    }

    private func refused(_ reason: NetworkError.TrustRefusal.Reason, at certificate: Certificate?) -> HTTP.TrustDecision
    {
        .refused(refusal(reason, 0, certificate, [certificate].compactMap(\.self)))
    }

    private func refusal(
        _ reason: NetworkError.TrustRefusal.Reason, _ depth: Int, _ certificate: Certificate?, _ path: [Certificate],
        detail: String? = nil
    ) -> NetworkError.TrustRefusal {
        NetworkError.TrustRefusal(
            reason, host: host.text, depth: depth, certificate: certificate, path: path, detail: detail)
    }
}

extension PathVerifier.Failure {
    /// Whether only the anchor was missing: if pins are the only anchors, no pin is on the path.
    var isWithoutAnchor: Bool {
        switch VerificationCode.reason(fault.code) {
        case .unknownIssuer, .selfSigned: true
        default: false
        }
    }
}
