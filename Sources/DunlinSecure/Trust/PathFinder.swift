internal import COpenSSL
internal import DunlinTypes

/// Finds a path that verifies and that nobody objects to.
///
/// OpenSSL puts one path together and never goes back: if there is an authority under two certificates, of two signers
/// or of two dates, it takes one of them, and where that leads nowhere the other might.
///
/// Rules:
/// 1. OpenSSL's own path counts if it can. Only where it fails are others tried over the same certificates, each of
///    them verified by OpenSSL as strictly as the first and with nothing beside it to deviate to.
/// 2. What is wrong with the server's own certificate is wrong on every path, and what was revoked is not looked for
///    again under another name: then no other path is tried.
/// 3. What is told of a failure is what was wrong with the first path, not with whatever was tried last.
/// 4. Whoever sends the certificates must not choose how long this takes: `Limits` bound the paths that are verified,
///    and the signatures that are checked to find and to verify them. A signature of P-384 costs most of a
///    millisecond, and all of them are checked on the connection's loop.
struct PathFinder {
    struct Limits: Sendable, Equatable {
        /// The paths besides the first.
        var paths = 32
        var signatures = 64
    }

    enum Outcome {
        case path([Certificate], X509Path)
        /// A path verified, but this is an objection to it.
        case objection(NetworkError.TrustRefusal)
        case failure(PathVerifier.Failure)
    }

    /// The work done besides verifying the first path.
    struct Effort: Sendable, Equatable {
        var paths = 0
        /// The signatures checked, including those of verified paths.
        var signatures = 0
        var steps = 0
    }

    let verifier: PathVerifier
    var limits = Limits()
    private(set) var effort = Effort()

    init(_ verifier: PathVerifier) {
        self.verifier = verifier
    }

    /// Finds a path. `sent` is the stack that came with the certificate, or nil; both remain the caller's. `objection`
    /// is called for each path that verified.
    mutating func find(
        _ leaf: OpaquePointer, sent: OpaquePointer?, objection: (X509Path) -> NetworkError.TrustRefusal?
    ) -> Outcome {
        let outcome = search(leaf, sent: sent, objection)
        guard case .failure(var failure) = outcome else { return outcome }
        failure.faults = verifier.faults(of: leaf, sent: sent, deciding: failure.fault)
        return .failure(failure)
    }

    private mutating func search(
        _ leaf: OpaquePointer, sent: OpaquePointer?, _ objection: (X509Path) -> NetworkError.TrustRefusal?
    ) -> Outcome {
        let first = Self.judged(verifier.verify(leaf, sent: sent), objection)
        guard !first.isFinal else { return first }
        let now = verifier.ignoresTime ? nil : verifier.time ?? X509Reading.now
        guard
            let known = KnownCertificates(
                leaf: leaf, sent: sent, AnchorSource(anchors: verifier.anchors), at: now,
                signatureLimit: limits.signatures)
        else { return first }
        var search = PathSearch(from: 0, PathSearch.Limits(length: verifier.maximumIntermediates + 2))
        defer {
            effort.signatures = known.signatures
            effort.steps = search.steps
        }
        while effort.paths < limits.paths, known.signatures < limits.signatures, let path = search.next(in: known) {
            effort.paths += 1
            known.noteVerification(of: path)
            let outcome = verify(path.map { known[$0] }, objection)
            if case .path = outcome { return outcome }
            if outcome.isFinal { return outcome }
        }
        return first
    }

    /// Verifies exactly these certificates.
    private func verify(_ path: [OpaquePointer], _ objection: (X509Path) -> NetworkError.TrustRefusal?) -> Outcome {
        guard let anchors = X509Path(), let between = X509Path() else { return .outOfMemory }
        path.suffix(1).forEach(anchors.append)
        path.dropFirst().dropLast().forEach(between.append)
        var verifier = verifier
        verifier.anchors = .these(anchors)
        return withExtendedLifetime((anchors, between)) {
            Self.judged(verifier.verify(path[0], sent: between.stack), objection)
        }
    }

    private static func judged(
        _ outcome: PathVerifier.Outcome, _ objection: (X509Path) -> NetworkError.TrustRefusal?
    ) -> Outcome {
        switch outcome {
        case .path(let path, let owner): objection(owner).map { .objection($0) } ?? .path(path, owner)
        case .failure(let failure): .failure(failure)
        }
    }
}

extension PathFinder.Outcome {
    fileprivate static var outOfMemory: Self { .failure(.outOfMemory) }

    /// Whether another path would end the same way.
    fileprivate var isFinal: Bool {
        switch self {
        case .path: true
        case .objection(let refusal):
            switch refusal.reason {
            case .nameNotPermitted, .pinMismatch: false
            default: true
            }
        case .failure(let failure): failure.isFinal
        }
    }
}

extension PathVerifier.Failure {
    fileprivate var isFinal: Bool {
        switch VerificationCode.reason(fault.code) {
        case .revoked, .internalError: true
        case .expired, .notYetValid, .weakKey, .wrongPurpose: fault.depth == 0
        default: false
        }
    }
}
