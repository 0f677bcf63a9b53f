internal import COpenSSL
internal import DunlinTypes

/// What the server brought along about its own certificate's revocation (RFC 6960, RFC 6066 §8).
///
/// Rules:
/// 1. It counts if the certificate's issuer signed it, or somebody whom the issuer itself certified for that.
/// 2. It must speak of this certificate, and of now: it has a beginning and an end, and five minutes are forgiven.
struct OCSPStaple {
    enum Finding: Equatable {
        case good
        case revoked
        case unknown(String)
    }

    private static let skew: Int64 = 300

    let bytes: Bytes
    let leaf: OpaquePointer
    let issuer: OpaquePointer
    /// Seconds since 1970.
    let now: Int64

    func finding() -> Finding {
        defer { OpenSSLErrors.clear() }
        let response = bytes.withUnsafeBytes {
            dunlin_ocsp_decode($0.bindMemory(to: UInt8.self).baseAddress, $0.count)
        }
        guard let response else { return .unknown("the stapled OCSP response cannot be read") }
        defer { OCSP_RESPONSE_free(response) }
        guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let answer = OCSP_response_get1_basic(response)
        else { return .unknown("the stapled OCSP response is empty") }
        defer { OCSP_BASICRESP_free(answer) }
        guard isSigned(answer) else { return .unknown("the stapled OCSP response is not signed by the issuer") }
        for index in 0..<dunlin_ocsp_count(answer) {
            guard let single = OCSP_resp_get0(answer, index), isOurs(OCSP_SINGLERESP_get0_id(single)) else { continue }
            return Self.finding(of: single, at: now)
        }
        return .unknown("the stapled OCSP response is for another certificate")
    }

    private func isSigned(_ answer: OpaquePointer) -> Bool {
        guard let issuers = X509Path(), let store = X509_STORE_new() else { return false }
        defer { X509_STORE_free(store) }
        issuers.append(issuer)
        guard X509_STORE_add_cert(store, issuer) == 1 else { return false }
        let flags = UInt(OCSP_TRUSTOTHER | OCSP_PARTIAL_CHAIN)
        return OCSP_basic_verify(answer, issuers.stack, store, flags) == 1
    }

    /// Whether an entry is about this certificate, by the digest that its signer chose.
    private func isOurs(_ id: OpaquePointer?) -> Bool {
        var algorithm: OpaquePointer?
        guard let id, OCSP_id_get0_info(nil, &algorithm, nil, nil, id) == 1,
            let name = OBJ_nid2sn(OBJ_obj2nid(algorithm)), let digest = EVP_get_digestbyname(name),
            let wanted = OCSP_cert_to_id(digest, leaf, issuer)
        else { return false }
        defer { OCSP_CERTID_free(wanted) }
        return OCSP_id_cmp(wanted, id) == 0
    }

    private static func finding(of single: OpaquePointer, at now: Int64) -> Finding {
        var reason: Int32 = 0
        var start: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var end: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = OCSP_single_get0_status(single, &reason, nil, &start, &end)
        // A revocation counts however old it is.
        if status == V_OCSP_CERTSTATUS_REVOKED { return .revoked }
        guard status == V_OCSP_CERTSTATUS_GOOD else {
            return .unknown("the OCSP responder does not know the certificate")
        }
        guard let start, let end else { return .unknown("the stapled OCSP response has no validity period") }
        guard X509Reading.seconds(start) ?? .max <= now + skew else {
            return .unknown("the stapled OCSP response is not valid yet")
        }
        guard X509Reading.seconds(end) ?? .min >= now - skew else {
            return .unknown("the stapled OCSP response has expired")
        }
        return .good
    }
}
