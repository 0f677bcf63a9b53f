internal import COpenSSL

/// The digest that a certificate's signature is made over. An Ed25519 key has its own.
public enum SignatureDigest: Sendable, Hashable, CaseIterable {
    case sha256, sha384
    /// Broken since 2017.
    case sha1
    /// Broken since 2004.
    case md5
}

extension SignatureDigest {
    var function: OpaquePointer? {
        switch self {
        case .sha256: EVP_sha256()
        case .sha384: EVP_sha384()
        case .sha1: EVP_sha1()
        case .md5: EVP_md5()
        }
    }

    /// The AlgorithmIdentifier of a signature by such a key over this digest.
    func algorithm(_ kind: CertificateAuthority.Key.Kind) throws(AuthorityError) -> [UInt8] {
        switch kind {
        case .ed25519: return DER.sequence(DER.object(ObjectID(1, 3, 101, 112)))
        case .p256, .p384: return DER.sequence(DER.object(try ecdsa()))
        case .rsa1024, .rsa2048, .rsa3072: return DER.sequence(DER.object(rsa), DER.null)
        }
    }

    private func ecdsa() throws(AuthorityError) -> ObjectID {
        switch self {
        case .sha256: ObjectID(1, 2, 840, 10045, 4, 3, 2)
        case .sha384: ObjectID(1, 2, 840, 10045, 4, 3, 3)
        case .sha1: ObjectID(1, 2, 840, 10045, 4, 1)
        case .md5: throw AuthorityError(.signing, "there is no ECDSA over MD5: sign with an RSA key")
        }
    }

    private var rsa: ObjectID {
        switch self {
        case .sha256: ObjectID(1, 2, 840, 113549, 1, 1, 11)
        case .sha384: ObjectID(1, 2, 840, 113549, 1, 1, 12)
        case .sha1: ObjectID(1, 2, 840, 113549, 1, 1, 5)
        case .md5: ObjectID(1, 2, 840, 113549, 1, 1, 4)
        }
    }
}
