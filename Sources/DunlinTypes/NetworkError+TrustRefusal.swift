extension NetworkError {
    /// Why a server is not trusted.
    public struct TrustRefusal: Error, Sendable, Hashable {
        public enum Reason: String, Sendable, Hashable, CaseIterable {
            /// The server showed no certificate.
            case noCertificate
            case expired
            case notYetValid
            /// The certificate is for other hosts.
            case wrongHost
            /// The certificate names no host at all; a common name does not count (RFC 9525 §2).
            case namesNoHost
            /// The chain ends at an unknown issuer, or is incomplete.
            case unknownIssuer
            /// The server's certificate is signed by itself, and not trusted.
            case selfSigned
            /// A signature does not fit, or cannot be checked.
            case badSignature
            case weakKey
            case weakSignature
            /// The certificate is not for servers.
            case wrongPurpose
            /// A certificate has signed another and may not.
            case notAnAuthority
            /// More authorities are in the chain than one of them, or we, allow.
            case pathTooLong
            /// An authority is not allowed to sign for this name.
            case nameNotPermitted
            /// The certificate breaks the rules of RFC 5280.
            case malformed
            /// The certificate demands something that is not known here.
            case unsupported
            case revoked
            /// Revocation was to be checked and could not be: a list or a staple is missing, old, or not signed as it
            /// must.
            case revocationUnknown
            /// The root store says that this certificate or this use of it is refused.
            case distrusted
            /// No certificate of the verified path is pinned.
            case pinMismatch
            /// The policy demands a pin and has none.
            case noPins
            /// The policy demands a pin for each host and has none for this one.
            case hostNotPinned
            /// Invalid certificates are allowed, and the host's name was to be checked without a pin: anybody can issue
            /// himself a certificate with any name, so the check would mean nothing.
            case nameNeedsPin
            /// The authentication handler refused it.
            case refusedByHook
            /// Not the certificate's fault: out of memory, or a mistake of ours.
            case internalError
        }

        public var reason: Reason
        /// The host that was to be reached.
        public var host: String
        /// How far from the server's own certificate, which is 0, the fault was found.
        public var depth: Int?
        /// The certificate at fault.
        public var certificate: Certificate?
        /// The certificates that the server presented, as far as a path could be built.
        public var path: [Certificate]
        /// Of a pin mismatch: the digests found on the path, from the server's certificate on. Of the public keys, or
        /// of the certificates where those are pinned.
        public var seen: [Certificate.Fingerprint]
        /// Of a pin mismatch: the digests of which one was expected.
        public var expected: [Certificate.Fingerprint]
        /// Whether those are digests of certificates. They are not written as pins then: as such they would match
        /// nothing.
        public var comparesCertificates = false
        /// Details beyond the reason.
        public var detail: String?
        /// What else is wrong, each for itself. `reason` is what is most useful to know.
        public var others: [TrustRefusal] = []

        public init(
            _ reason: Reason, host: String, depth: Int? = nil, certificate: Certificate? = nil,
            path: [Certificate] = [],
            seen: [Certificate.Fingerprint] = [], expected: [Certificate.Fingerprint] = [], detail: String? = nil
        ) {
            self.reason = reason
            self.host = host
            self.depth = depth
            self.certificate = certificate
            self.path = path
            self.seen = seen
            self.expected = expected
            self.detail = detail
        }
    }
}
