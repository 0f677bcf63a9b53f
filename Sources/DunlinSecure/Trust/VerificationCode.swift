internal import COpenSSL
package import DunlinTypes

/// OpenSSL's verification errors in our words.
package enum VerificationCode {
    /// The codes of OpenSSL 3; later versions add at the end.
    package static let known = 1...94

    /// The codes of strict verification only (`X509_V_FLAG_X509_STRICT`): how certificates are written.
    static let formal = X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA...X509_V_ERR_EXTENSIONS_REQUIRE_VERSION_3

    /// Returns the meaning of a code. An unknown code refuses as any other, with OpenSSL's own words.
    package static func reason(_ code: Int32) -> NetworkError.TrustRefusal.Reason {
        switch code {
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
            X509_V_ERR_CERT_UNTRUSTED, X509_V_ERR_SUBJECT_ISSUER_MISMATCH, X509_V_ERR_AKID_SKID_MISMATCH,
            X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH, X509_V_ERR_DANE_NO_MATCH, X509_V_ERR_NO_VALID_SCTS:
            .unknownIssuer
        case X509_V_ERR_CERT_CHAIN_TOO_LONG, X509_V_ERR_PATH_LENGTH_EXCEEDED, X509_V_ERR_PATH_LOOP,
            X509_V_ERR_PROXY_PATH_LENGTH_EXCEEDED:
            .pathTooLong
        case X509_V_ERR_INVALID_PURPOSE, X509_V_ERR_KEYUSAGE_NO_DIGITAL_SIGNATURE: .wrongPurpose
        case X509_V_ERR_CERT_REJECTED: .distrusted
        case X509_V_ERR_INVALID_CA, X509_V_ERR_INVALID_NON_CA, X509_V_ERR_KEYUSAGE_NO_CERTSIGN: .notAnAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH, X509_V_ERR_EMAIL_MISMATCH: .wrongHost
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey
        case X509_V_ERR_CA_MD_TOO_WEAK: .weakSignature
        case X509_V_ERR_OUT_OF_MEM, X509_V_ERR_UNSPECIFIED, X509_V_ERR_INVALID_CALL, X509_V_ERR_STORE_LOOKUP,
            X509_V_ERR_APPLICATION_VERIFICATION:
            .internalError
        default: reasonOfDetail(code)
        }
    }

    private static func reasonOfDetail(_ code: Int32) -> NetworkError.TrustRefusal.Reason {
        switch code {
        case X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE, X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY,
            X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_NO_ISSUER_PUBLIC_KEY,
            X509_V_ERR_SIGNATURE_ALGORITHM_MISMATCH, X509_V_ERR_SIGNATURE_ALGORITHM_INCONSISTENCY:
            .badSignature
        case X509_V_ERR_UNABLE_TO_GET_CRL, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE,
            X509_V_ERR_CRL_SIGNATURE_FAILURE, X509_V_ERR_CRL_NOT_YET_VALID, X509_V_ERR_CRL_HAS_EXPIRED,
            X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD, X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD,
            X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_KEYUSAGE_NO_CRL_SIGN,
            X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION, X509_V_ERR_DIFFERENT_CRL_SCOPE,
            X509_V_ERR_CRL_PATH_VALIDATION_ERROR, X509_V_ERR_OCSP_VERIFY_NEEDED, X509_V_ERR_OCSP_VERIFY_FAILED,
            X509_V_ERR_OCSP_CERT_UNKNOWN:
            .revocationUnknown
        case X509_V_ERR_PERMITTED_VIOLATION, X509_V_ERR_EXCLUDED_VIOLATION, X509_V_ERR_SUBTREE_MINMAX,
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_TYPE, X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX,
            X509_V_ERR_UNSUPPORTED_NAME_SYNTAX, X509_V_ERR_UNNESTED_RESOURCE:
            .nameNotPermitted
        case X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, X509_V_ERR_PROXY_CERTIFICATES_NOT_ALLOWED,
            X509_V_ERR_PROXY_SUBJECT_NAME_VIOLATION, X509_V_ERR_INVALID_POLICY_EXTENSION,
            X509_V_ERR_NO_EXPLICIT_POLICY, X509_V_ERR_UNSUPPORTED_EXTENSION_FEATURE,
            X509_V_ERR_UNSUPPORTED_SIGNATURE_ALGORITHM, X509_V_ERR_SUITE_B_INVALID_VERSION,
            X509_V_ERR_SUITE_B_INVALID_ALGORITHM, X509_V_ERR_SUITE_B_INVALID_CURVE,
            X509_V_ERR_SUITE_B_INVALID_SIGNATURE_ALGORITHM, X509_V_ERR_SUITE_B_LOS_NOT_ALLOWED,
            X509_V_ERR_SUITE_B_CANNOT_SIGN_P_384_WITH_P_256:
            .unsupported
        case X509_V_ERR_INVALID_EXTENSION, X509_V_ERR_ERROR_IN_CERT_NOT_BEFORE_FIELD,
            X509_V_ERR_ERROR_IN_CERT_NOT_AFTER_FIELD,
            X509_V_ERR_PATHLEN_INVALID_FOR_NON_CA...X509_V_ERR_EC_KEY_EXPLICIT_PARAMS:
            .malformed
        default: .unsupported
        }
    }

    /// Returns OpenSSL's words, if the reason covers several codes.
    static func detail(_ code: Int32) -> String? {
        switch reason(code) {
        case .expired, .notYetValid, .selfSigned, .revoked, .weakKey, .weakSignature: return nil
        default: break
        }
        switch code {
        // The sentence says what these mean; OpenSSL's words would name its own look-ups.
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
            return nil
        case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return "the server may have left out an intermediate"
        default:
            guard let words = X509_verify_cert_error_string(Int(code)).map({ String(cString: $0) }) else { return nil }
            guard formal.contains(code) else { return words }
            return "\(words); `SecurityPolicy.certificateRules = .compatible` accepts that"
        }
    }
}
