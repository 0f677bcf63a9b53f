extension NetworkError.TrustRefusal: CustomStringConvertible {
    /// A sentence for a person with everything that is wrong. It contains host names and digests, which are public.
    public var description: String {
        let own = detail.map { "\(sentence) (\($0))" } ?? sentence
        return others.reduce(own) { "\($0); \($1)" }
    }

    private var sentence: String {
        switch reason {
        case .noCertificate: "\(host) sent no certificate"
        case .expired: "\(whose) expired on \(moment(\.notAfter))"
        case .notYetValid: "\(whose) is not valid before \(moment(\.notBefore))"
        case .wrongHost: "the certificate is for \(names), not for \(host)"
        case .namesNoHost: "the certificate of \(host) names no host; its common name is ignored"
        case .unknownIssuer: "the chain of \(host) ends at an unknown issuer: \(issuer)"
        case .selfSigned: "the certificate of \(host) is self-signed and not trusted: \(subject)"
        case .pinMismatch: "pin mismatch for \(host): saw \(list(texts(seen))), expected \(oneOf(texts(expected)))"
        case .noPins: "the policy requires a pin and has none, so \(host) is refused; add one to `pins` or `hosts`"
        case .hostNotPinned: "the policy requires a pin for each host and has none for \(host); add one to `hosts`"
        case .nameNeedsPin:
            "invalid certificates are allowed and nothing is pinned, so the name of \(host) cannot be checked; pin it "
                + "by `pinningMode` and `pins`, or leave out `allowsInvalidCertificates`"
        case .refusedByHook: "the authentication handler refused \(host)"
        case .internalError: "the certificate of \(host) could not be checked"
        default: faultOfCertificate
        }
    }

    private var faultOfCertificate: String {
        switch reason {
        case .badSignature: "the signature of \(named) is not valid"
        case .weakKey: "\(whose) has a key that is too weak: \(certificate?.details.key ?? "unknown")"
        case .weakSignature:
            "\(whose) has a signature that is too weak: \(certificate?.details.signature ?? "unknown")"
        case .wrongPurpose: "\(named) may not be used for servers"
        case .notAnAuthority: "\(named) has signed another certificate but is not an authority"
        case .pathTooLong:
            "the chain of \(host) has more authorities than one of them allows, or more than 8 between server and "
                + "root, a fixed limit"
        case .nameNotPermitted: "an authority in the chain of \(host) signed for a name that it may not sign for"
        case .malformed: "\(named) breaks the rules for certificates"
        case .unsupported: "\(named) has a critical extension that is not supported"
        case .revoked: "\(named) is revoked"
        case .revocationUnknown: "the revocation status of \(named) could not be determined"
        default: "\(named) is refused by the trust store"
        }
    }

    /// The certificate at fault, described by its position.
    private var whose: String {
        (depth ?? 0) == 0 ? "the certificate of \(host)" : "an authority in the chain of \(host), \(subject),"
    }

    private var named: String {
        (depth ?? 0) == 0 ? "the certificate of \(host)" : "the certificate of \(subject) in the chain of \(host)"
    }

    private var subject: String { certificate?.details.subject ?? "unknown" }
    private var issuer: String { certificate?.details.issuer ?? "unknown" }

    private var names: String {
        let names = certificate?.details.names ?? []
        return names.isEmpty ? "no host" : list(names)
    }

    private func moment(_ path: KeyPath<Certificate.Details, Int64>) -> String {
        certificate.map { CalendarText.utc($0.details[keyPath: path]) } ?? "an unknown date"
    }

    private func texts(_ digests: [Certificate.Fingerprint]) -> [String] {
        digests.map { comparesCertificates ? "SHA-256 \($0.hexadecimal)" : $0.description }
    }

    private func oneOf(_ digests: [String]) -> String {
        digests.count == 1 ? list(digests) : "one of \(list(digests))"
    }

    /// The items as text, limited in number: the server chooses how many names and certificates it sends.
    private func list(_ items: [some CustomStringConvertible]) -> String {
        guard !items.isEmpty else { return "none" }
        let shown = items.prefix(8).map(\.description).joined(separator: ", ")
        return items.count > 8 ? "\(shown) and \(items.count - 8) more" : shown
    }
}
