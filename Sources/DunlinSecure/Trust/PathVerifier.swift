internal import COpenSSL
internal import DunlinTypes

/// One path from a server's certificate to an anchor, built and verified by OpenSSL.
///
/// Whatever is asked, these hold: RFC 5280 to the letter (`X509_V_FLAG_X509_STRICT`), a server's purpose, RSA keys of
/// 2048 bits and elliptic curves of 224 at least, no MD5 and no SHA-1 (security level 2), name constraints compared
/// with the subject alternative name and never with a common name. How an anchor is written is its own affair: it is
/// believed, not verified (RFC 5280 §6.1), and some roots in every system's store are older than the rules.
struct PathVerifier {
    enum Anchors {
        case store(TrustStore)
        /// These alone, and whatever store there is does not count.
        case these(X509Path)
    }

    enum Outcome {
        case path([Certificate], X509Path)
        case failure(Failure)
    }

    struct Failure {
        var code: Int32
        var depth: Int
        var certificate: Certificate?
        var path: [Certificate]
    }

    var anchors: Anchors
    var ignoresTime = false
    var maximumIntermediates: Int
    var revocation: RevocationRules?
    /// The lists of those rules, read once for all verifications: some are longer than everything else together.
    var lists: Owned?
    /// Seconds since 1970; the system's time if nil.
    var time: Int64?

    /// `sent` is the stack that came with the certificate, or nil. Both stay the caller's.
    func verify(_ leaf: OpaquePointer, sent: OpaquePointer?) -> Outcome {
        guard let context = X509_STORE_CTX_new() else { return .outOfMemory }
        defer {
            X509_STORE_CTX_free(context)
            OpenSSLErrors.clear()
        }
        var store: OpaquePointer?
        if case .store(let known) = anchors { store = known.pointer }
        guard X509_STORE_CTX_init(context, store, leaf, sent) == 1,
            X509_STORE_CTX_set_default(context, "ssl_server") == 1
        else { return .outOfMemory }
        if case .these(let trusted) = anchors { X509_STORE_CTX_set0_trusted_stack(context, trusted.stack) }
        guard configure(X509_STORE_CTX_get0_param(context)) else { return .outOfMemory }
        X509_STORE_CTX_set_verify_cb(context, passingAnchors)
        if let revocation, !revocation.lists.isEmpty {
            guard let lists else { return .outOfMemory }
            X509_STORE_CTX_set0_crls(context, lists.pointer)
            if revocation.allowsMissingLists { X509_STORE_CTX_set_verify_cb(context, passingMissingLists) }
        }
        return X509_verify_cert(context) == 1 ? Self.path(of: context) : .failure(Self.failure(of: context))
    }

    private func configure(_ parameters: OpaquePointer?) -> Bool {
        // An anchor need not be signed by itself.
        var flags = UInt(X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN)
        if ignoresTime { flags |= UInt(X509_V_FLAG_NO_CHECK_TIME) }
        if let revocation, !revocation.lists.isEmpty {
            flags |= UInt(X509_V_FLAG_CRL_CHECK)
            if revocation.coversAuthorities { flags |= UInt(X509_V_FLAG_CRL_CHECK_ALL) }
        }
        X509_VERIFY_PARAM_set_depth(parameters, Int32(maximumIntermediates))
        X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
        // A time that is set is looked at, whatever the flags say.
        if let time, !ignoresTime { X509_VERIFY_PARAM_set_time(parameters, Int(time)) }
        return X509_VERIFY_PARAM_set_flags(parameters, flags) == 1
    }

    private static func path(of context: OpaquePointer) -> Outcome {
        guard let chain = X509_STORE_CTX_get1_chain(context) else { return .outOfMemory }
        let path = X509Path(owning: chain)
        // Above a server's certificate that is an anchor itself OpenSSL goes on, and nobody believes in what is there.
        if X509_STORE_CTX_get_num_untrusted(context) == 0 { path.keepFirst() }
        return .path(path.certificates, path)
    }

    private static func failure(of context: OpaquePointer) -> Failure {
        let chain = X509_STORE_CTX_get0_chain(context)
        let count = chain.map { dunlin_certificate_count($0) } ?? 0
        return Failure(
            code: X509_STORE_CTX_get_error(context), depth: Int(X509_STORE_CTX_get_error_depth(context)),
            certificate: X509_STORE_CTX_get_current_cert(context).flatMap(Certificate.init),
            path: (0..<count).compactMap { dunlin_certificate_at(chain, $0).flatMap(Certificate.init) })
    }
}

extension PathVerifier.Outcome {
    fileprivate static var outOfMemory: Self { .failure(.outOfMemory) }
}

extension PathVerifier.Failure {
    static var outOfMemory: Self { Self(code: X509_V_ERR_OUT_OF_MEM, depth: 0, certificate: nil, path: []) }
}

// OpenSSL asks these about each fault it finds; 1 goes on.

/// How an anchor is written is no fault.
private let passingAnchors: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isValid, context in
    if isValid == 1 { return 1 }
    let top = X509_STORE_CTX_get0_chain(context).map { dunlin_certificate_count($0) - 1 }
    let formal = X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA...X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3
    guard formal.contains(X509_STORE_CTX_get_error(context)), X509_STORE_CTX_get_error_depth(context) == top else {
        return 0
    }
    X509_STORE_CTX_set_error(context, X509_V_OK)
    return 1
}

/// Neither is it that an issuer has no list, where that is allowed.
private let passingMissingLists: @convention(c) (Int32, OpaquePointer?) -> Int32 = { isValid, context in
    guard isValid == 0, X509_STORE_CTX_get_error(context) == X509_V_ERR_UNABLE_TO_GET_CRL else {
        return passingAnchors(isValid, context)
    }
    X509_STORE_CTX_set_error(context, X509_V_OK)
    return 1
}
