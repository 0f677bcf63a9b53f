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
            /// The certificate names no host; a common name does not count (RFC 9525 §2).
            case namesNoHost
            /// The chain ends at an unknown issuer, or is incomplete.
            case unknownIssuer
            /// The server's certificate is self-signed and not trusted.
            case selfSigned
            /// A signature is wrong or cannot be checked.
            case badSignature
            case weakKey
            case weakSignature
            /// The certificate is not for servers.
            case wrongPurpose
            /// A certificate that may not sign others has signed one.
            case notAnAuthority
            /// The chain has more authorities than one of them, or Dunlin, allows.
            case pathTooLong
            /// An authority may not sign for this name.
            case nameNotPermitted
            /// The certificate breaks the rules of RFC 5280.
            case malformed
            /// The certificate requires an extension that Dunlin does not know.
            case unsupported
            case revoked
            /// Revocation could not be checked as required: a list or staple is missing, old, or wrongly signed.
            case revocationUnknown
            /// The root store refuses this certificate or this use of it.
            case distrusted
            /// No certificate on the verified path matches a pin.
            case pinMismatch
            /// The policy requires a pin and has none.
            case noPins
            /// The policy requires a pin for each host and has none for this one.
            case hostNotPinned
            /// Invalid certificates are allowed and the host's name was to be checked without a pin. The check would
            /// mean nothing, since anybody can issue a certificate with any name.
            case nameNeedsPin
            /// The authentication handler refused the server.
            case refusedByHook
            /// The certificate is not at fault: out of memory, or a mistake of ours.
            case internalError
        }

        public var reason: Reason
        /// The host that the request was for.
        public var host: String
        /// The position of the faulty certificate in the chain; the server's own is 0.
        public var depth: Int?
        /// The certificate at fault.
        public var certificate: Certificate?
        /// The certificates that the server presented, as far as a path could be built.
        public var path: [Certificate]
        /// For a pin mismatch, the digests on the path from the server's certificate on: of public keys, or of
        /// certificates if those are pinned.
        public var seen: [Certificate.Fingerprint]
        /// For a pin mismatch, the digests of which one was expected.
        public var expected: [Certificate.Fingerprint]
        /// Whether `seen` and `expected` are digests of certificates. They are not written as pins then, since as pins
        /// they would match nothing.
        public var comparesCertificates = false
        /// Details beyond the reason.
        public var detail: String?
        /// Everything else that is wrong; `reason` is the most useful to know.
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
