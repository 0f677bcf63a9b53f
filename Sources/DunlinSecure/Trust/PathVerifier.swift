internal import COpenSSL
internal import DunlinTypes

/// One path from a server's certificate to an anchor, built and verified by OpenSSL.
///
/// Whatever is asked, these hold: a server's purpose, RSA keys of 2048 bits and elliptic curves of 224 at least, no MD5
/// and no SHA-1 (security level 2), name constraints compared with the subject alternative name and never with a common
/// name, and a certificate is valid in the last second that it names (RFC 5280 §4.1.2.5). RFC 5280 holds to the letter
/// (`X509_V_FLAG_X509_STRICT`) unless `isStrict` is false. How an anchor is written is its own affair: it is believed,
/// not verified (RFC 5280 §6.1), and some roots in every system's store are older than the rules.
struct PathVerifier {
    enum Anchors {
        case store(TrustStore)
        /// Exactly these; no store counts.
        case these(X509Path)
    }

    enum Outcome {
        case path([Certificate], X509Path)
        case failure(Failure)
    }

    /// A fault of one certificate, by OpenSSL's code.
    struct Fault {
        var code: Int32
        var depth: Int
        var certificate: Certificate?
    }

    /// A failure, with the fault at which OpenSSL stopped.
    struct Failure {
        var fault: Fault
        var path: [Certificate]
        /// All faults, the most useful first; filled in when they are reported.
        var faults: [Fault] = []
    }

    var anchors: Anchors
    var ignoresTime = false
    var isStrict = true
    var maximumIntermediates: Int
    var revocation: RevocationRules?
    /// The revocation lists of those rules, read once for all verifications: some are longer than everything else
    /// together.
    var lists: Owned?
    /// The time in seconds since 1970; nil for the system's.
    var time: Int64?

    /// Verifies a certificate. `sent` is the stack that came with it, or nil; both remain the caller's.
    func verify(_ leaf: OpaquePointer, sent: OpaquePointer?) -> Outcome {
        verify(leaf, sent: sent) { context in
            X509_STORE_CTX_set_verify_cb(context, passes)
            return X509_verify_cert(context) == 1 ? Self.path(of: context) : .failure(Self.failure(of: context))
        }
    }

    /// The callback that passes or confirms each fault OpenSSL finds.
    var passes: FaultCallback {
        revocation?.allowsMissingLists == true ? passingMissingLists : passingFormalities
    }

    /// Calls `body` with a prepared context, which lives as long as `body` runs.
    func verify(_ leaf: OpaquePointer, sent: OpaquePointer?, _ body: (OpaquePointer) -> Outcome) -> Outcome {
        guard let context = X509_STORE_CTX_new() else { return .outOfMemory }
        defer {
            X509_STORE_CTX_free(context)
            OpenSSLErrors.clear()
        }
        var store: OpaquePointer?
        if case .store(let known) = anchors {
            known.read(for: leaf, sent: sent)
            store = known.pointer
        }
        guard X509_STORE_CTX_init(context, store, leaf, sent) == 1,
            X509_STORE_CTX_set_default(context, "ssl_server") == 1
        else { return .outOfMemory }
        if case .these(let trusted) = anchors { X509_STORE_CTX_set0_trusted_stack(context, trusted.stack) }
        guard configure(X509_STORE_CTX_get0_param(context)) else { return .outOfMemory }
        if let revocation, !revocation.lists.isEmpty {
            guard let lists else { return .outOfMemory }
            X509_STORE_CTX_set0_crls(context, lists.pointer)
        }
        return body(context)
    }

    private func configure(_ parameters: OpaquePointer?) -> Bool {
        // An anchor need not be self-signed.
        var flags = UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN)
        if isStrict { flags |= UInt(X509_V_FLAG_X509_STRICT) }
        if ignoresTime { flags |= UInt(X509_V_FLAG_NO_CHECK_TIME) }
        if let revocation, !revocation.lists.isEmpty {
            flags |= UInt(X509_V_FLAG_CRL_CHECK)
            if revocation.coversAuthorities { flags |= UInt(X509_V_FLAG_CRL_CHECK_ALL) }
        }
        X509_VERIFY_PARAM_set_depth(parameters, Int32(maximumIntermediates))
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        // A time that is set is checked, whatever the flags say.
        if !ignoresTime { X509_VERIFY_PARAM_set_time(parameters, Int(time ?? X509Reading.now)) }
        return X509_VERIFY_PARAM_set_flags(parameters, flags) == 1
    }

    private static func path(of context: OpaquePointer) -> Outcome {
        guard let chain = X509_STORE_CTX_get1_chain(context) else { return .outOfMemory }
        let path = X509Path(owning: chain)
        // If the server's certificate is an anchor, OpenSSL continues above it with certificates that are not trusted.
        if X509_STORE_CTX_get_num_untrusted(context) == 0 { path.keepFirst() }
        return .path(path.certificates, path)
    }

    private static func failure(of context: OpaquePointer) -> Failure {
        let chain = X509_STORE_CTX_get0_chain(context)
        let count = chain.map { dunlin_certificate_count($0) } ?? 0
        return Failure(
            fault: PathVerifier.Fault(of: context),
            path: (0..<count).compactMap { dunlin_certificate_at(chain, $0).flatMap(Certificate.init) })
    }
}

extension PathVerifier.Outcome {
    fileprivate static var outOfMemory: Self { .failure(.outOfMemory) }
}

extension PathVerifier.Failure {
    static var outOfMemory: Self {
        Self(fault: PathVerifier.Fault(code: X509_V_ERR_OUT_OF_MEM, depth: 0, certificate: nil), path: [])
    }
}

extension PathVerifier.Fault {
    /// Creates the fault that OpenSSL has just found.
    init(of context: OpaquePointer?) {
        code = X509_STORE_CTX_get_error(context)
        depth = Int(X509_STORE_CTX_get_error_depth(context))
        certificate = X509_STORE_CTX_get_current_cert(context).flatMap(Certificate.init)
    }
}

// OpenSSL calls these for each fault; 1 continues.
typealias FaultCallback = @convention(c) (Int32, OpaquePointer?) -> Int32

/// An anchor's form is no fault, and neither is a certificate's last second.
private let passingFormalities: FaultCallback = { isValid, context in
    if isValid == 1 { return 1 }
    guard isFormalityOfAnchor(context) || isLastSecond(context) else { return 0 }
    X509_STORE_CTX_set_error(context, X509_V_OK)
    return 1
}

/// A missing list of an issuer is no fault either, if that is allowed.
private let passingMissingLists: FaultCallback = { isValid, context in
    guard isValid == 0, X509_STORE_CTX_get_error(context) == X509_V_ERR_UNABLE_TO_GET_CRL else {
        return passingFormalities(isValid, context)
    }
    X509_STORE_CTX_set_error(context, X509_V_OK)
    return 1
}

private func isFormalityOfAnchor(_ context: OpaquePointer?) -> Bool {
    let top = X509_STORE_CTX_get0_chain(context).map { dunlin_certificate_count($0) - 1 }
    return VerificationCode.formal.contains(X509_STORE_CTX_get_error(context))
        && X509_STORE_CTX_get_error_depth(context) == top
}

/// OpenSSL counts a certificate's last second as too late.
private func isLastSecond(_ context: OpaquePointer?) -> Bool {
    guard X509_STORE_CTX_get_error(context) == X509_V_ERR_CERT_HAS_EXPIRED,
        let certificate = X509_STORE_CTX_get_current_cert(context)
    else { return false }
    let time = X509_VERIFY_PARAM_get_time(X509_STORE_CTX_get0_param(context))
    return ASN1_TIME_cmp_time_t(X509_get0_notAfter(certificate), time) == 0
}
