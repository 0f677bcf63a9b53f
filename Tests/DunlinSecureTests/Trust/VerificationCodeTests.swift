import COpenSSL
import DunlinTypes
import Testing

@testable import DunlinSecure

@Suite struct `OpenSSL's verification codes` {
    @Test func `each verification code has a reason, and only failures of the verifier itself are internal`() {
        let internals = VerificationCode.known.filter { VerificationCode.reason(Int32($0)) == .internalError }
        #expect(internals == [1, 17, 50, 69, 70])
    }

    @Test func `all verification codes that OpenSSL knows are in the table`() throws {
        // What it does not know it calls an error number.
        let unknown = try #require(X509_verify_cert_error_string(9999).map { String(cString: $0) })
        let isKnown = { (code: Int) in
            X509_verify_cert_error_string(code).map { String(cString: $0) } != unknown
        }
        #expect(VerificationCode.known.allSatisfy(isKnown))
        #expect(VerificationCode.reason(9999) == .unsupported)
    }

    static let some: [(Int32, NetworkError.TrustRefusal.Reason)] = [
        (X509_V_ERR_CERT_HAS_EXPIRED, .expired), (X509_V_ERR_CERT_NOT_YET_VALID, .notYetValid),
        (X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, .unknownIssuer),
        (X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, .unknownIssuer),
        (X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, .selfSigned), (X509_V_ERR_CERT_SIGNATURE_FAILURE, .badSignature),
        (X509_V_ERR_EE_KEY_TOO_SMALL, .weakKey), (X509_V_ERR_CA_MD_TOO_WEAK, .weakSignature),
        (X509_V_ERR_INVALID_PURPOSE, .wrongPurpose), (X509_V_ERR_INVALID_CA, .notAnAuthority),
        (X509_V_ERR_PATH_LENGTH_EXCEEDED, .pathTooLong), (X509_V_ERR_CERT_CHAIN_TOO_LONG, .pathTooLong),
        (X509_V_ERR_PERMITTED_VIOLATION, .nameNotPermitted), (X509_V_ERR_EXCLUDED_VIOLATION, .nameNotPermitted),
        (X509_V_ERR_CERT_REVOKED, .revoked), (X509_V_ERR_UNABLE_TO_GET_CRL, .revocationUnknown),
        (X509_V_ERR_CRL_HAS_EXPIRED, .revocationUnknown), (X509_V_ERR_CERT_REJECTED, .distrusted),
        (X509_V_ERR_UNHANDLED_CRITICAL_EXTENSION, .unsupported), (X509_V_ERR_EC_KEY_EXPLICIT_PARAMS, .malformed),
        (X509_V_ERR_SUBJECT_NAME_EMPTY, .malformed),
    ]

    @Test(arguments: some)
    func `a verification code says what a person needs to know`(code: Int32, reason: NetworkError.TrustRefusal.Reason) {
        #expect(VerificationCode.reason(code) == reason)
    }
}
