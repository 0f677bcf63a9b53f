import Dunlin
import DunlinTesting

/// Those who are believed.
enum TrustTable {
    static let good: [TrustCase] = names + chains + forms + keys + pins + revocation + settings

    static let names: [TrustCase] = [
        TrustCase("a name"),
        TrustCase("one name of several", showing: .server("a.test", "api.test", "b.test")),
        TrustCase("a wildcard", at: "x.api.test", showing: .server("*.api.test")),
        TrustCase("IPv4", at: "127.0.0.1", showing: .server("127.0.0.1")),
        TrustCase("IPv6", at: "::1", showing: .server("::1")),
        TrustCase("IPv6 written at length", at: "0:0:0:0:0:0:0:1", showing: .server("::1")),
        TrustCase("a dot at the end", at: "api.test."),
        TrustCase("upper case in the URL", at: "API.Test"),
        TrustCase("upper case in the certificate", showing: .server("API.Test")),
        TrustCase("letters that are not ASCII", at: "bücher.test", showing: .server("xn--bcher-kva.test")),
        TrustCase("letters under a wildcard", at: "bücher.api.test", showing: .server("*.api.test")),
        TrustCase(
            "a common name that is another's", at: "api.test", showing: Self.template { $0.commonName = "b.test" }),
        TrustCase("no common name at all", at: "api.test", showing: Self.template { $0.commonName = nil }),
        TrustCase("permitted by constraints") {
            try $0.intermediate(.authority("Narrow").permitting("api.test")).issue(.server("api.test"))
        },
        TrustCase("an address within constraints", at: "127.0.0.1") {
            try $0.intermediate(.authority("Narrow").permitting("127.0.0.0/8")).issue(.server("127.0.0.1"))
        },
    ]

    static func template(_ change: (inout CertificateTemplate) -> Void) -> CertificateTemplate {
        var template = CertificateTemplate.server("api.test")
        change(&template)
        return template
    }

    static let chains: [TrustCase] = [
        TrustCase("by an intermediate") { try $0.intermediate().issue(.server("api.test")) },
        TrustCase("by an intermediate of an intermediate") {
            try $0.intermediate().intermediate(.authority("Second")).issue(.server("api.test"))
        },
        TrustCase("the root sent along") {
            try $0.issue(.server("api.test")).with(intermediates: [$0.certificate.der])
        },
        TrustCase("out of order, with a stranger among them") {
            let issued = try $0.intermediate().intermediate(.authority("Second")).issue(.server("api.test"))
            let stranger = try CertificateAuthority(.authority("Stranger")).certificate.der
            return issued.with(intermediates: [stranger] + issued.intermediates.reversed())
        },
        TrustCase("no purposes named", showing: .server("api.test").purposes()),
    ]

    /// Certificates that break the letter of RFC 5280 and nothing else, where that is accepted.
    static let forms: [TrustCase] = [
        TrustCase(
            "no key identifier of the authority, under compatible rules",
            showing: .server("api.test").withoutAuthorityKey
        ).client { tls, _ in tls.policy.certificateRules = .compatible },
        TrustCase("an intermediate without that of the root, under compatible rules") {
            try $0.intermediate(.authority("Handmade").withoutAuthorityKey).issue(.server("api.test"))
        }.client { tls, _ in tls.policy.certificateRules = .compatible },
    ]

    static let keys: [TrustCase] = [
        TrustCase("RSA of 2048 bits", showing: .server("api.test").with(.rsa2048)),
        TrustCase("RSA of 3072 bits", showing: .server("api.test").with(.rsa3072)),
        TrustCase("P-384", showing: .server("api.test").with(.p384)),
        TrustCase("Ed25519", showing: .server("api.test").with(.ed25519)),
    ]

    static let pins: [TrustCase] =
        [SecurityPolicy.PinningMode.publicKey, .certificate].flatMap { pins(by: $0) } + [
            TrustCase("a renewed certificate with the pinned key") {
                let key = try CertificateAuthority.Key()
                return try $0.issue(.server("api.test").with(key))
            }.client { tls, cast in
                let before = try cast.authority.issue(.server("api.test").with(cast.issued.key))
                try tls.pin(.publicKey, before)
            },
            TrustCase("a key that is signed by itself, and late, and pinned") { _ in
                try .selfSigned(.server("api.test").expired)
            }.client { tls, cast in
                try tls.pin(.publicKey, cast.issued, allowingInvalid: true)
            },
            TrustCase("a backup pin") {
                try $0.issue(.server("api.test"))
            }.client { tls, cast in
                try tls.pin(.publicKey, CertificateAuthority().certificate)
                tls.policy.backupPins = try HTTPSession.TLS.pins([cast.issued])
            },
            TrustCase(
                "pins by pattern, the one that says most counting", at: "x.api.test", showing: .server("*.api.test")
            ).client { tls, cast in
                let other = try HTTPSession.TLS.pins([try CertificateAuthority().certificate])
                tls.policy = SecurityPolicy(mode: .publicKey, pins: other)
                tls.policy.hosts = [
                    "**.test": other, "*.api.test": try HTTPSession.TLS.pins([cast.issued]), "y.api.test": other,
                ]
                tls.policy.requiresPinningForAllHosts = true
            },
            TrustCase("no pin for this host, where not all must have one").client { tls, _ in
                tls.policy = SecurityPolicy(mode: .publicKey, pins: [])
                tls.policy.hosts = ["other.test": try HTTPSession.TLS.pins([try CertificateAuthority().certificate])]
            },
            TrustCase("an intermediate that is left out and pinned as an anchor") {
                let middle = try $0.intermediate(.authority("Middle").with(Self.middleKey.get()))
                return try middle.issue(.server("api.test")).withoutIntermediates
            }.client { tls, cast in
                let middle = try cast.authority.intermediate(.authority("Middle").with(Self.middleKey.get()))
                try tls.knowNobody()
                try tls.pin(.certificate, middle.certificate, allowingInvalid: true)
            },
            TrustCase("any server, where that is declared insecure", at: "127.0.0.1") { _ in
                try .selfSigned(.server("other.test").expired)
            }.client { tls, _ in
                tls.policy = .insecure
            },
            TrustCase("another name, where names are not checked", showing: .server("other.test")).client { tls, _ in
                tls.policy.validatesDomainName = false
            },
        ]

    /// An intermediate that can be made twice.
    private static let middleKey = Result { try CertificateAuthority.Key() }

    private static func pins(by mode: SecurityPolicy.PinningMode) -> [TrustCase] {
        [
            TrustCase("the server pinned, \(mode)").client { tls, cast in
                try tls.pin(mode, cast.issued)
            },
            TrustCase("the root pinned, \(mode)").client { tls, cast in
                try tls.pin(mode, cast.authority.certificate)
            },
            TrustCase("the server pinned where only it counts, \(mode)").client { tls, cast in
                try tls.pin(mode, cast.issued)
                tls.policy.pinPosition = .leaf
            },
            TrustCase("signed by itself and pinned, \(mode)") { _ in
                try .selfSigned(.server("api.test"))
            }.client { tls, cast in
                try tls.pin(mode, cast.issued, allowingInvalid: true)
            },
        ]
    }

    static let revocation: [TrustCase] = [
        TrustCase("stapled and good", showing: .server("api.test").stapled).server { tls, cast in
            tls.staple = try cast.authority.staple(.good, for: cast.issued)
        }.client { tls, _ in
            tls.revocation.stapling = .required
        },
        TrustCase("no staple, where none is required").client { tls, _ in
            tls.revocation.stapling = .checkedIfPresent
        },
        TrustCase("a bad staple that nobody asked for").server { tls, cast in
            tls.staple = try cast.authority.staple(.revoked, for: cast.issued)
        },
        TrustCase("another one on the list").client { tls, cast in
            let other = try cast.authority.issue(.server("api.test"))
            tls.revocation.lists = [.bytes(try cast.authority.revocationList(revoking: other).der)]
        },
    ]

    static let settings: [TrustCase] = [
        TrustCase("ChaCha20 alone").server { tls, _ in
            tls.ciphersBefore1_3 = "ECDHE+CHACHA20"
            tls.ciphers = "TLS_CHACHA20_POLY1305_SHA256"
        },
        TrustCase("P-521 alone").server { tls, _ in tls.groups = "P-521" },
        TrustCase("HTTP/1.1 by ALPN").server { tls, _ in tls.protocols = ["h2", "http/1.1"] },
        TrustCase("no tickets").server { tls, _ in tls.tickets = 0 },
    ]
}
