import Dunlin
import DunlinTesting

/// Those who are not believed, and what the error says.
enum RefusalTable {
    static let bad: [TrustCase] =
        names + chains + forms + times + strength + purposes + pins + revocation + settings

    static let names: [TrustCase] = [
        TrustCase(
            "another name", .refused(.wrongHost, "the certificate is for a.test, b.test, not for api.test"),
            showing: .server("a.test", "b.test")),
        TrustCase(
            "a common name only", .refused(.namesNoHost, "names no host"), showing: .server("api.test").commonNameOnly),
        TrustCase("a wildcard for its parent", .refused(.wrongHost, "*.api.test"), showing: .server("*.api.test")),
        TrustCase(
            "a wildcard for two labels", .refused(.wrongHost, "x.y.api.test"), at: "x.y.api.test",
            showing: .server("*.api.test")
        ),
        TrustCase("a wildcard over everything", .refused(.wrongHost, "*.test"), showing: .server("*.test")),
        TrustCase("part of a label wild", .refused(.wrongHost, "a*.test"), showing: .server("a*.test")),
        TrustCase("another address", .refused(.wrongHost, "127.0.0.2"), at: "127.0.0.1", showing: .server("127.0.0.2")),
        TrustCase("a name for an address", .refused(.wrongHost, "api.test"), at: "127.0.0.1"),
        TrustCase("an address for a name", .refused(.wrongHost, "127.0.0.1"), showing: .server("127.0.0.1")),
        TrustCase(
            "IPv4 within IPv6", .refused(.wrongHost, "127.0.0.1"), at: "::ffff:127.0.0.1", showing: .server("127.0.0.1")
        ),
        TrustCase(
            "letters in place of an A-label", .refused(.wrongHost, "xn--bcher-kva.test"), at: "bücher.test",
            showing: .server("bucher.test")),
        TrustCase("outside of constraints", .refused(.nameNotPermitted, "may not sign for")) {
            try $0.intermediate(.authority("Narrow").permitting("other.test")).issue(.server("api.test"))
        },
        TrustCase("excluded by constraints", .refused(.nameNotPermitted, "may not sign for")) {
            try $0.intermediate(.authority("Narrow").excluding("test")).issue(.server("api.test"))
        },
        TrustCase("an address outside of constraints", .refused(.nameNotPermitted, "may not sign"), at: "127.0.0.1") {
            try $0.intermediate(.authority("Narrow").permitting("10.0.0.0/8")).issue(.server("127.0.0.1"))
        },
    ]

    static let chains: [TrustCase] = [
        TrustCase("an unknown root", .refused(.unknownIssuer, "ends at an unknown issuer: CN=Dunlin test root")) { _ in
            try CertificateAuthority().issue(.server("api.test"))
        },
        TrustCase("an unknown root sent along", .refused(.unknownIssuer, "ends at an unknown issuer")) { _ in
            let other = try CertificateAuthority()
            return try other.issue(.server("api.test")).with(intermediates: [other.certificate.der])
        },
        TrustCase("signed by itself", .refused(.selfSigned, "is self-signed and not trusted")) { _ in
            try .selfSigned(.server("api.test"))
        },
        TrustCase(
            "a missing intermediate", .refused(.unknownIssuer, "ends at an unknown issuer: CN=Dunlin test intermediate")
        ) {
            try $0.intermediate().issue(.server("api.test")).withoutIntermediates
        },
        TrustCase("signed by a server", .refused(.notAnAuthority, "is not an authority")) {
            let server = try $0.intermediate(.authority("Posing").withoutAuthority.usage(.signing))
            return try server.issue(.server("api.test"))
        },
        TrustCase("signed by one who may not sign", .refused(.notAnAuthority, "is not an authority")) {
            try $0.intermediate(.authority("Mute").usage(.signing)).issue(.server("api.test"))
        },
        TrustCase(
            "more authorities than one allows", .refused(.pathTooLong, "more authorities than one of them allows")
        ) {
            try $0.intermediate(.authority("First").pathLength(0)).intermediate(.authority("Second"))
                .issue(.server("api.test"))
        },
        TrustCase("a forged key", .failed("broke the rules of TLS")) {
            try $0.issue(.server("api.test")).withForgedKey()
        },
    ]

    private static let wayOut = "`SecurityPolicy.certificateRules = .compatible` accepts that"

    /// Certificates that break the letter of RFC 5280, which strict rules hold them to.
    static let forms: [TrustCase] = [
        TrustCase(
            "no key identifier of the authority", .refused(.malformed, Self.wayOut),
            showing: .server("api.test").withoutAuthorityKey),
        TrustCase("an intermediate without that of the root", .refused(.malformed, Self.wayOut)) {
            try $0.intermediate(.authority("Handmade").withoutAuthorityKey).issue(.server("api.test"))
        },
        TrustCase(
            "no key identifier and expired, under compatible rules", .refused(.expired, "expired on"),
            showing: .server("api.test").withoutAuthorityKey.expired
        ).client { tls, _ in tls.policy.certificateRules = .compatible },
    ]

    static let times: [TrustCase] = [
        TrustCase(
            "expired", .refused(.expired, "the certificate of api.test expired on 20"),
            showing: .server("api.test").expired),
        TrustCase(
            "not yet valid", .refused(.notYetValid, "is not valid before 20"),
            showing: .server("api.test").notYetValid),
        TrustCase(
            "a minute late", .refused(.expired, "expired on"),
            showing: .server("api.test").valid(from: .seconds(-7200), until: .seconds(-60))),
        TrustCase(
            "an authority expired", .refused(.expired, "an authority in the chain of api.test, CN=Late, expired on")
        ) {
            try $0.intermediate(.authority("Late").expired).issue(.server("api.test"))
        },
        TrustCase("an authority not yet valid", .refused(.notYetValid, "an authority in the chain")) {
            try $0.intermediate(.authority("Early").notYetValid).issue(.server("api.test"))
        },
    ]

    static let strength: [TrustCase] = [
        TrustCase(
            "RSA of 1024 bits", .refused(.weakKey, "has a key that is too weak: RSA"),
            showing: .server("api.test").withWeakKey),
        TrustCase("an authority with RSA of 1024 bits", .refused(.weakKey, "CN=Weak, has a key that is too weak")) {
            try $0.intermediate(.authority("Weak").withWeakKey).issue(.server("api.test"))
        },
        TrustCase(
            "SHA-1", .refused(.weakSignature, "has a signature that is too weak"),
            showing: .server("api.test").signedOverSHA1),
        TrustCase("an authority's SHA-1", .refused(.weakSignature, "too weak")) {
            try $0.intermediate(.authority("Old").signedOverSHA1).issue(.server("api.test"))
        },
    ]

    static let purposes: [TrustCase] = [
        TrustCase("for clients", .refused(.wrongPurpose, "may not be used for servers"), showing: .client("api.test")),
        TrustCase(
            "for signing code", .refused(.wrongPurpose, "may not be used for servers"),
            showing: .server("api.test").purposes(.codeSigning)),
        TrustCase("an authority for clients", .refused(.wrongPurpose, "may not be used for servers")) {
            try $0.intermediate(.authority("Clients").purposes(.client)).issue(.server("api.test"))
        },
    ]

    static let pins: [TrustCase] =
        [SecurityPolicy.PinningMode.publicKey, .certificate].flatMap { pins(by: $0) } + [
            TrustCase("a renewed certificate where the old one is pinned", .refused(.pinMismatch, "pin mismatch")) {
                try $0.issue(.server("api.test").with(CertificateAuthority.Key()))
            }.client { tls, cast in
                try tls.pin(.certificate, cast.authority.issue(.server("api.test").with(cast.issued.key)))
            },
            TrustCase(
                "no pin for this host, where all must have one", .refused(.hostNotPinned, "has none for api.test")
            ).client { tls, cast in
                tls.policy = SecurityPolicy(mode: .publicKey, pins: [])
                tls.policy.hosts = ["other.test": try HTTPSession.TLS.pins([cast.issued])]
                tls.policy.requiresPinningForAllHosts = true
            },
            TrustCase(
                "other pins for this host, though those for all would do", .refused(.pinMismatch, "pin mismatch")
            ).client { tls, cast in
                try tls.pin(.publicKey, cast.issued)
                tls.policy.hosts = ["api.test": try HTTPSession.TLS.pins([CertificateAuthority().certificate])]
            },
            TrustCase("a certificate that is pinned, and late", .refused(.expired, "expired on")) { _ in
                try .selfSigned(.server("api.test").expired)
            }.client { tls, cast in
                try tls.pin(.certificate, cast.issued, allowingInvalid: true)
            },
            TrustCase("names to be checked by nobody's word", .refused(.nameNeedsPin, "nothing is pinned"))
                .client { tls, _ in tls.policy.allowsInvalidCertificates = true },
        ]

    private static func pins(by mode: SecurityPolicy.PinningMode) -> [TrustCase] {
        [
            TrustCase("somebody else pinned, \(mode)", .refused(.pinMismatch, "pin mismatch for api.test: saw "))
                .client { tls, _ in try tls.pin(mode, CertificateAuthority().certificate) },
            TrustCase("the root pinned where only the server counts, \(mode)", .refused(.pinMismatch, "pin mismatch"))
                .client { tls, cast in
                    try tls.pin(mode, cast.authority.certificate)
                    tls.policy.pinPosition = .leaf
                },
            TrustCase("pinned and unknown, \(mode)", .refused(.selfSigned, "is self-signed")) { _ in
                try .selfSigned(.server("api.test"))
            }.client { tls, cast in
                try tls.pin(mode, cast.issued)
            },
            TrustCase("pinned and for another name, \(mode)", .refused(.wrongHost, "not for api.test")) { _ in
                try .selfSigned(.server("other.test"))
            }.client { tls, cast in
                try tls.pin(mode, cast.issued, allowingInvalid: true)
            },
            TrustCase("no pins at all, \(mode)", .refused(.noPins, "requires a pin and has none")).client { tls, _ in
                tls.policy = SecurityPolicy(mode: mode, pins: [])
            },
            // The pinned certificate is public: anybody can send it along.
            TrustCase("a chain stuffed with the pinned certificate, \(mode)", .refused(.pinMismatch, "pin mismatch")) {
                let issued = try $0.issue(.server("api.test"))
                return issued.with(intermediates: [try Self.pinned.get().certificate.der])
            }.client { tls, _ in
                try tls.pin(mode, Self.pinned.get().certificate)
            },
            TrustCase("stuffed, and signed by itself, \(mode)", .refused(.pinMismatch, "pin mismatch")) { _ in
                let issued = try IssuedCertificate.selfSigned(.server("api.test"))
                return issued.with(intermediates: [try Self.pinned.get().certificate.der])
            }.client { tls, _ in
                try tls.pin(mode, Self.pinned.get().certificate, allowingInvalid: true)
            },
        ]
    }

    private static let pinned = Result { try CertificateAuthority(.authority("Pinned")) }

    private static func unknown(_ words: String = "could not be determined") -> TrustCase.Verdict {
        .refused(.revocationUnknown, words)
    }

    static let revocation: [TrustCase] = [
        TrustCase("stapled and revoked", .refused(.revoked, "is revoked")).server { tls, cast in
            tls.staple = try cast.authority.staple(.revoked, for: cast.issued)
        }.client { tls, _ in
            tls.revocation.stapling = .checkedIfPresent
        },
        TrustCase("stapled too long ago", unknown()).server { tls, cast in
            tls.staple = try cast.authority.staple(.good, for: cast.issued, validUntil: .seconds(-3600))
        }.client { tls, _ in
            tls.revocation.stapling = .checkedIfPresent
        },
        TrustCase("stapled by a stranger", unknown()).server { tls, cast in
            tls.staple = try CertificateAuthority().staple(.good, for: cast.issued)
        }.client { tls, _ in
            tls.revocation.stapling = .required
        },
        TrustCase("no staple where one is required", unknown("the server sent no stapled OCSP response")).client {
            tls, _ in
            tls.revocation.stapling = .required
        },
        TrustCase(
            "no staple where the certificate promises one", unknown("the server sent no stapled OCSP response"),
            showing: .server("api.test").stapled
        ).client { tls, _ in
            tls.revocation.stapling = .checkedIfPresent
        },
        TrustCase("on the list", .refused(.revoked, "is revoked")).client { tls, cast in
            tls.revocation.lists = [.bytes(Bytes(try cast.authority.revocationList(revoking: cast.issued).pem))]
        },
        TrustCase("no list by its issuer", unknown()).client { tls, _ in
            tls.revocation.lists = [.bytes(try CertificateAuthority().revocationList().der)]
        },
        TrustCase("an old list", unknown()).client { tls, cast in
            tls.revocation.lists = [.bytes(try cast.authority.revocationList(validUntil: .seconds(-60)).der)]
        },
    ]

    /// What the server can do, and what our words for it are.
    static let settings: [TrustCase] = [
        TrustCase("TLS 1.0 alone", .failed("it speaks none of the TLS versions offered")).server { tls, _ in
            tls.versions = .v1_0 ... .v1_0
        },
        TrustCase("TLS 1.1 alone", .failed("it speaks none of the TLS versions offered")).server { tls, _ in
            tls.versions = .v1_1 ... .v1_1
        },
        TrustCase("TLS 1.2 alone, which the session does not", .failed("it speaks none of the TLS versions offered"))
            .server { tls, _ in
                tls.versions = .v1_2 ... .v1_2
            }.client { tls, _ in
                tls.versions = .tls13 ... .tls13
            },
        TrustCase("no forward secrecy", .failed("handshake_failure"), showing: .server("api.test").with(.rsa2048))
            .server { tls, _ in
                tls.versions = .v1_2 ... .v1_2
                tls.ciphersBefore1_3 = "AES128-GCM-SHA256"
            },
        TrustCase("CBC alone", .failed("handshake_failure")).server { tls, _ in
            tls.versions = .v1_2 ... .v1_2
            tls.ciphersBefore1_3 = "ECDHE-ECDSA-AES128-SHA"
        },
        TrustCase("a group that we do not offer", .failed("handshake_failure")).server { tls, _ in
            tls.groups = "X448"
        },
        TrustCase("a protocol that we do not speak", .failed("no_application_protocol")).server { tls, _ in
            tls.protocols = ["h2"]
        },
    ]
}
